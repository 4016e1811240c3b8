package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"pulumi-consortium/sdk/go/consortium"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		// A business network and its two members.
		coffeeTrade, err := consortium.NewConsortium(ctx, "coffee-trade", &consortium.ConsortiumArgs{
			Description: pulumi.String("Who delivered which beans to whom"),
		})
		if err != nil {
			return err
		}
		grower, err := consortium.NewMembership(ctx, "grower", &consortium.MembershipArgs{
			ConsortiumId: coffeeTrade.ID(),
		})
		if err != nil {
			return err
		}
		roaster, err := consortium.NewMembership(ctx, "roaster", &consortium.MembershipArgs{
			ConsortiumId: coffeeTrade.ID(),
		})
		if err != nil {
			return err
		}
		// Their shared ledger.
		ledger, err := consortium.NewEnvironment(ctx, "ledger", &consortium.EnvironmentArgs{
			ConsortiumId:  coffeeTrade.ID(),
			Provider:      consortium.EnvironmentProviderQuorum,
			ConsensusType: consortium.EnvironmentConsensusTypeRaft,
		})
		if err != nil {
			return err
		}
		// Each company runs two nodes, so one can fail.
		grower1, err := consortium.NewNode(ctx, "grower-1", &consortium.NodeArgs{
			ConsortiumId:  coffeeTrade.ID(),
			EnvironmentId: ledger.ID(),
			MembershipId:  grower.ID(),
		})
		if err != nil {
			return err
		}
		grower2, err := consortium.NewNode(ctx, "grower-2", &consortium.NodeArgs{
			ConsortiumId:  coffeeTrade.ID(),
			EnvironmentId: ledger.ID(),
			MembershipId:  grower.ID(),
		})
		if err != nil {
			return err
		}
		roaster1, err := consortium.NewNode(ctx, "roaster-1", &consortium.NodeArgs{
			ConsortiumId:  coffeeTrade.ID(),
			EnvironmentId: ledger.ID(),
			MembershipId:  roaster.ID(),
		})
		if err != nil {
			return err
		}
		roaster2, err := consortium.NewNode(ctx, "roaster-2", &consortium.NodeArgs{
			ConsortiumId:  coffeeTrade.ID(),
			EnvironmentId: ledger.ID(),
			MembershipId:  roaster.ID(),
		})
		if err != nil {
			return err
		}
		// Each company's applications log in to its nodes with a username and a password.
		growerApp, err := consortium.NewAppCred(ctx, "grower-app", &consortium.AppCredArgs{
			ConsortiumId:  coffeeTrade.ID(),
			EnvironmentId: ledger.ID(),
			MembershipId:  grower.ID(),
		})
		if err != nil {
			return err
		}
		roasterApp, err := consortium.NewAppCred(ctx, "roaster-app", &consortium.AppCredArgs{
			ConsortiumId:  coffeeTrade.ID(),
			EnvironmentId: ledger.ID(),
			MembershipId:  roaster.ID(),
		})
		if err != nil {
			return err
		}
		ctx.Export("consortiumId", coffeeTrade.ID())
		ctx.Export("environmentId", ledger.ID())
		ctx.Export("rpcUrls", pulumi.Map{
			"grower-1":  grower1.Urls.Rpc(),
			"grower-2":  grower2.Urls.Rpc(),
			"roaster-1": roaster1.Urls.Rpc(),
			"roaster-2": roaster2.Urls.Rpc(),
		})
		ctx.Export("usernames", pulumi.Map{
			"grower":  growerApp.Username,
			"roaster": roasterApp.Username,
		})
		ctx.Export("passwords", pulumi.Map{
			"grower":  growerApp.Password,
			"roaster": roasterApp.Password,
		})
		return nil
	})
}
