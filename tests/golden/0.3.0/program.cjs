// One resource of each kind with every argument that a state may have to keep, and what others made before, adopted.
const { Config } = require("@pulumi/pulumi");
const {
  AppCred,
  Configuration,
  Consortium,
  ConsortiumZone,
  Destination,
  Environment,
  EnvironmentZone,
  Invitation,
  Membership,
  Node,
  Service,
  TetherService,
} = require("pulumi-consortium");

const config = new Config();
const ohio = { region: "us-east-2", cloud: "aws" };
const customTimeouts = { create: "1h" };

const consortium = new Consortium("trade", { description: "golden", adopt: true });
const membership = new Membership("acme", { consortium });
// The service of this state wrote the name in capitals.
const rewritten = new Membership("roaster", { consortium, orgName: "Roaster & Sons" });
new ConsortiumZone("ohio", { consortium, ...ohio });
new Invitation("third", { consortium, email: "ops@third.example" });

const environment = new Environment(
  "ledger",
  {
    consortium,
    provider: "geth",
    consensusType: "poa",
    description: "kept for ever",
    chainId: 1628533070,
    releaseId: "geth-0",
    blockPeriod: 5,
    multiRegion: true,
    testFeatures: { quick: true },
    prefundedAccounts: { "0x00000000000000000000000000000000000000AA": { balance: "16" } },
  },
  { customTimeouts },
);
const chosen = new Environment("chosen", { consortium, provider: "quorum", consensusType: "raft" });

const zone = new EnvironmentZone("ohio-ledger", { environment, name: "ohio", ...ohio });
const details = { gas_price: "1", allow: ["a", "b"] };
const nodeConfig = new Configuration("gas", { environment, membership, type: "node_config", details });
const node = new Node("acme-1", { environment, membership, zone, nodeConfig, size: "medium" }, { customTimeouts });
new Node("acme-2", { environment: chosen, membership });
const registry = new Service("registry", { environment, membership, service: "idregistry" });
const settings = { size: "large", details: { retention: { days: 30 } } };
const documents = new Service("documents", { environment, membership, service: "documentstore", zone, ...settings });
new Destination("inbox", { service: documents, idRegistry: registry, testCertificate: true });
const cred = new AppCred("app", { environment, membership, keepers: { year: 2026 } });
new AppCred("plain", { environment, membership: rewritten });
const tether = new TetherService(
  "pin",
  { tetherId: config.require("tether"), network: "rinkeby", intervalHours: 24, minimumBalanceWei: "1000" },
  { dependsOn: node },
);

const alliance = new Consortium("alliance", { adopt: true });
const globex = new Membership("globex", { consortium: alliance, adopt: config.require("globex") });
const pilot = new Environment("pilot", {
  consortium: alliance,
  provider: "quorum",
  consensusType: "ibft",
  adopt: true,
});
new ConsortiumZone("ohio-alliance", { consortium: alliance, name: "east", ...ohio, adopt: true });
const shared = new EnvironmentZone("ohio-pilot", { environment: pilot, name: "east", ...ohio, adopt: true });
new Node("old-1", { environment: pilot, membership: globex, zone: shared, adopt: true });
new Service("names", { environment: pilot, membership: globex, service: "idregistry", size: "large", adopt: true });

exports.chainId = environment.chainId;
exports.rpc = node.urls.rpc;
exports.username = cred.username;
exports.password = cred.password;
exports.account = tether.account;
