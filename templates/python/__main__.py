import pulumi
import pulumi_consortium as consortium

trade = consortium.Consortium(
    "trade",
    name="${PROJECT}",
    description="Created with pulumi new",
)
# One ledger. Replacing it loses its data: in production, set the option protect.
ledger = consortium.Environment(
    "ledger",
    consortium_id=trade.id,
    provider=consortium.EnvironmentProvider.QUORUM,
    consensus_type=consortium.EnvironmentConsensusType.RAFT,
)
# Each company runs a node of the ledger, and its applications log in to it.
buyer = consortium.Membership(
    "buyer",
    consortium_id=trade.id,
)
buyer_node = consortium.Node(
    "buyer-node",
    consortium_id=trade.id,
    environment_id=ledger.id,
    membership_id=buyer.id,
)
buyer_app = consortium.AppCred(
    "buyer-app",
    consortium_id=trade.id,
    environment_id=ledger.id,
    membership_id=buyer.id,
)
seller = consortium.Membership(
    "seller",
    consortium_id=trade.id,
)
seller_node = consortium.Node(
    "seller-node",
    consortium_id=trade.id,
    environment_id=ledger.id,
    membership_id=seller.id,
)
seller_app = consortium.AppCred(
    "seller-app",
    consortium_id=trade.id,
    environment_id=ledger.id,
    membership_id=seller.id,
)

pulumi.export("chainId", ledger.chain_id)
pulumi.export("endpoints", {
    "buyer": {
        "url": buyer_node.urls.rpc,
        "username": buyer_app.username,
        "password": buyer_app.password,
    },
    "seller": {
        "url": seller_node.urls.rpc,
        "username": seller_app.username,
        "password": seller_app.password,
    },
})
