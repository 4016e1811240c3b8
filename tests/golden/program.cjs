// One resource of each kind, with every argument that a state may have to keep.
const { AppCred, Consortium, Environment, Membership, Node, TetherService } = require("pulumi-consortium");

const consortium = new Consortium("trade", { description: "golden", adopt: true });
const membership = new Membership("acme", { consortium });
const environment = new Environment(
  "ledger",
  { consortium, provider: "geth", consensusType: "poa", description: "kept for ever" },
  { customTimeouts: { create: "1h" } },
);
const node = new Node("acme-1", { environment, membership });
const cred = new AppCred("app", { environment, membership, keepers: { year: 2026 } });
const tether = new TetherService(
  "pin",
  { tetherId: "t0golden00", network: "rinkeby", intervalHours: 24, minimumBalanceWei: "1000" },
  { dependsOn: node },
);

exports.chainId = environment.chainId;
exports.rpc = node.urls.rpc;
exports.username = cred.username;
exports.password = cred.password;
exports.account = tether.account;
