package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"pulumi-consortium/sdk/go/consortium"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		trade, err := consortium.NewConsortium(ctx, "trade", &consortium.ConsortiumArgs{
			Name:        pulumi.String("${PROJECT}"),
			Description: pulumi.String("Created with pulumi new"),
		})
		if err != nil {
			return err
		}
		// One ledger. Replacing it loses its data: in production, set the option protect.
		ledger, err := consortium.NewEnvironment(ctx, "ledger", &consortium.EnvironmentArgs{
			ConsortiumId:  trade.ID(),
			Provider:      consortium.EnvironmentProviderQuorum,
			ConsensusType: consortium.EnvironmentConsensusTypeRaft,
		})
		if err != nil {
			return err
		}
		// Each company runs a node of the ledger, and its applications log in to it.
		buyer, err := consortium.NewMembership(ctx, "buyer", &consortium.MembershipArgs{
			ConsortiumId: trade.ID(),
		})
		if err != nil {
			return err
		}
		buyerNode, err := consortium.NewNode(ctx, "buyer-node", &consortium.NodeArgs{
			ConsortiumId:  trade.ID(),
			EnvironmentId: ledger.ID(),
			MembershipId:  buyer.ID(),
		})
		if err != nil {
			return err
		}
		buyerApp, err := consortium.NewAppCred(ctx, "buyer-app", &consortium.AppCredArgs{
			ConsortiumId:  trade.ID(),
			EnvironmentId: ledger.ID(),
			MembershipId:  buyer.ID(),
		})
		if err != nil {
			return err
		}
		seller, err := consortium.NewMembership(ctx, "seller", &consortium.MembershipArgs{
			ConsortiumId: trade.ID(),
		})
		if err != nil {
			return err
		}
		sellerNode, err := consortium.NewNode(ctx, "seller-node", &consortium.NodeArgs{
			ConsortiumId:  trade.ID(),
			EnvironmentId: ledger.ID(),
			MembershipId:  seller.ID(),
		})
		if err != nil {
			return err
		}
		sellerApp, err := consortium.NewAppCred(ctx, "seller-app", &consortium.AppCredArgs{
			ConsortiumId:  trade.ID(),
			EnvironmentId: ledger.ID(),
			MembershipId:  seller.ID(),
		})
		if err != nil {
			return err
		}
		ctx.Export("chainId", ledger.ChainId)
		ctx.Export("endpoints", pulumi.Map{
			"buyer": pulumi.Map{
				"url":      buyerNode.Urls.Rpc(),
				"username": buyerApp.Username,
				"password": buyerApp.Password,
			},
			"seller": pulumi.Map{
				"url":      sellerNode.Urls.Rpc(),
				"username": sellerApp.Username,
				"password": sellerApp.Password,
			},
		})
		return nil
	})
}
