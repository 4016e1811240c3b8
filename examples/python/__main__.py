import pulumi
import pulumi_consortium as consortium

# A business network and its two members.
coffee_trade = consortium.Consortium(
    "coffee-trade",
    description="Who delivered which beans to whom",
)
grower = consortium.Membership(
    "grower",
    consortium_id=coffee_trade.id,
)
roaster = consortium.Membership(
    "roaster",
    consortium_id=coffee_trade.id,
)
# Their shared ledger.
ledger = consortium.Environment(
    "ledger",
    consortium_id=coffee_trade.id,
    provider=consortium.EnvironmentProvider.QUORUM,
    consensus_type=consortium.EnvironmentConsensusType.RAFT,
)
# Each company runs two nodes, so one can fail.
grower_1 = consortium.Node(
    "grower-1",
    consortium_id=coffee_trade.id,
    environment_id=ledger.id,
    membership_id=grower.id,
)
grower_2 = consortium.Node(
    "grower-2",
    consortium_id=coffee_trade.id,
    environment_id=ledger.id,
    membership_id=grower.id,
)
roaster_1 = consortium.Node(
    "roaster-1",
    consortium_id=coffee_trade.id,
    environment_id=ledger.id,
    membership_id=roaster.id,
)
roaster_2 = consortium.Node(
    "roaster-2",
    consortium_id=coffee_trade.id,
    environment_id=ledger.id,
    membership_id=roaster.id,
)
# Each company's applications log in to its nodes with a username and a password.
grower_app = consortium.AppCred(
    "grower-app",
    consortium_id=coffee_trade.id,
    environment_id=ledger.id,
    membership_id=grower.id,
)
roaster_app = consortium.AppCred(
    "roaster-app",
    consortium_id=coffee_trade.id,
    environment_id=ledger.id,
    membership_id=roaster.id,
)

pulumi.export("consortiumId", coffee_trade.id)
pulumi.export("environmentId", ledger.id)
pulumi.export("rpcUrls", {
    "grower-1": grower_1.urls.rpc,
    "grower-2": grower_2.urls.rpc,
    "roaster-1": roaster_1.urls.rpc,
    "roaster-2": roaster_2.urls.rpc,
})
pulumi.export("usernames", {
    "grower": grower_app.username,
    "roaster": roaster_app.username,
})
pulumi.export("passwords", {
    "grower": grower_app.password,
    "roaster": roaster_app.password,
})
