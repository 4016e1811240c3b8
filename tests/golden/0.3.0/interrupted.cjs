// What runs left behind that ended before they were done: a node that was not ready, a credential that the service could not
// rename, and a deployment whose answer was lost.
const { Config } = require("@pulumi/pulumi");
const { AppCred, Consortium, Environment, Membership, Node, TetherService } = require("pulumi-consortium");

const customTimeouts = { create: "2s", update: "2s" };
const consortium = new Consortium("interrupted");
const membership = new Membership("late", { consortium });
const environment = new Environment("unfinished", { consortium, provider: "quorum", consensusType: "raft" });
const tetherId = new Config().require("tether");
const tether = { tetherId, network: "rinkeby", intervalHours: 1 };
new AppCred("cred", { environment, membership, name: "renamed" });
new Node("late-1", { environment, membership }, { customTimeouts });
new TetherService("lost", tether, { customTimeouts });
