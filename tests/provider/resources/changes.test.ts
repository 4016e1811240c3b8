import { wireName } from "../../../provider/core/field";
import { bases } from "../../support/bases";
import { lifecycle } from "../../support/lifecycle";
import { account, ether, post, tether as tetherItself, tetherArgs } from "../../support/tethered";

/* Every property of every resource: what a change to it does, by which calls, and what the service shows then. */

const patch = (where: string) => `PATCH ${where}`;
const consortium = "/consortia/:consortiumId";
const environment = `${consortium}/environments/:environmentId`;

lifecycle("consortium", bases.consortium, [
  {
    change: { name: "zeta" },
    then: "updated",
    calls: [patch(consortium)],
    shows: { name: "zeta", description: "old" },
  },
  {
    change: { description: "new" },
    then: "updated",
    calls: [patch(consortium), "GET /consortia"],
    shows: { description: "new" },
  },
  { change: { description: undefined }, then: "updated", calls: [patch(consortium)], shows: { description: "" } },
  { change: { description: " old " }, then: "same", calls: [] },
  { change: { adopt: true }, then: "same", calls: [] },
  { change: { extra: { plan: 1 } }, then: "replaced", why: { property: "extra" }, deletedFirst: true },
  { change: { customTimeouts: { create: 60 } }, then: "updated", calls: [] },
  { change: { name: " " }, then: "refused", why: { property: "name", reason: /must not be empty/ } },
  { change: { name: 7 }, then: "refused", why: { property: "name", reason: /text/ } },
  { change: { description: 7 }, then: "refused", why: { property: "description", reason: /must be text/ } },
  { change: { adopt: 7 }, then: "refused", why: { property: "adopt", reason: /true, false, or the id/ } },
  { change: { extra: "x" }, then: "refused", why: { property: "extra", reason: /object of fields/ } },
  {
    change: { owner: "x" },
    then: "refused",
    why: { property: "owner", reason: /no argument "owner".*name, description/ },
  },
]);

lifecycle("membership", bases.membership, [
  {
    change: { orgName: "zeta" },
    then: "updated",
    calls: [patch(`${consortium}/memberships/:membershipId`)],
    shows: { org_name: "zeta" },
  },
  { change: { adopt: false }, then: "same", calls: [] },
  { change: { orgName: "" }, then: "refused", why: { property: "orgName", reason: /must not be empty/ } },
  { change: { extra: { plan: 1 } }, then: "replaced", why: { property: "extra" }, deletedFirst: true },
  {
    change: { consortiumId: undefined },
    then: "refused",
    why: { property: "consortiumId", reason: /consortium is missing: give consortium/ },
  },
  { change: { consortiumId: "" }, then: "refused", why: { property: "consortiumId", reason: /consortium is empty/ } },
]);

lifecycle("environment", (net) => ({ ...bases.environment(net), description: "old" }), [
  { change: { name: "prod" }, then: "updated", calls: [patch(environment)], shows: { name: "prod" } },
  {
    change: { description: "new" },
    then: "updated",
    calls: [patch(environment), `GET ${consortium}/environments`],
    shows: { description: "new" },
  },
  { change: { description: undefined }, then: "updated", calls: [patch(environment)], shows: { description: "" } },
  {
    change: { consensusType: "ibft" },
    then: "replaced",
    why: { property: "consensusType" },
    deletedFirst: true,
    shows: { consensus_type: "ibft" },
  },
  {
    change: { chainId: 77 },
    then: "replaced",
    why: { property: "chainId" },
    deletedFirst: true,
    shows: { chain_id: 77 },
  },
  {
    change: { provider: "geth" },
    then: "refused",
    why: { property: "consensusType", reason: /geth runs poa, not raft.*provider: "quorum"/ },
  },
  { change: { provider: "" }, then: "refused", why: { property: "provider", reason: /provider must not be empty/ } },
  {
    change: { consensusType: "poa" },
    then: "refused",
    why: { property: "consensusType", reason: /raft or ibft, not poa/ },
  },
  ...(
    [
      ["blockPeriod", 2, { block_period: 2 }],
      ["prefundedAccounts", { [`0x${"a".repeat(40)}`]: { balance: "5" } }, {}],
      ["multiRegion", true, { test_features: { multi_region: true } }],
      ["testFeatures", { quick: true }, { test_features: { quick: true } }],
    ] as const
  ).map(([property, value, shows]) => ({
    change: { [property]: value },
    then: "replaced" as const,
    why: { property },
    deletedFirst: true,
    shows,
  })),
  { change: { releaseId: "" }, then: "refused", why: { property: "releaseId", reason: /not be empty/ } },
  { change: { blockPeriod: 0 }, then: "refused", why: { property: "blockPeriod", reason: /at least 1/ } },
  { change: { multiRegion: "yes" }, then: "refused", why: { property: "multiRegion", reason: /true or false/ } },
  { change: { testFeatures: "x" }, then: "refused", why: { property: "testFeatures", reason: /object of features/ } },
  {
    change: {
      prefundedAccounts: { [`0x${"A".repeat(40)}`]: { balance: "5" }, ["a".repeat(40)]: { balance: "6" } },
    },
    then: "refused",
    why: { property: "prefundedAccounts", reason: /one address twice/ },
  },
  { change: { chainId: 0 }, then: "refused", why: { property: "chainId", reason: /at least 1/ } },
  { change: { chainId: 1.5 }, then: "refused", why: { property: "chainId", reason: /whole number/ } },
  {
    change: { customTimeouts: { update: -1 } },
    then: "refused",
    why: { property: "customTimeouts.update", reason: />0/ },
  },
]);

const nodes = `${environment}/nodes`;
const nodeStatus = `GET ${nodes}/:nodeId/status`;
/** Changed, restarted, and looked at until it has started again. */
const restarts = [patch(`${nodes}/:nodeId`), `PUT ${nodes}/:nodeId/reset`, `GET ${nodes}`, `GET ${nodes}`, nodeStatus];
lifecycle("node", bases.node, [
  {
    change: { name: "n2" },
    then: "updated",
    calls: [patch(`${environment}/nodes/:nodeId`), nodeStatus],
    shows: { name: "n2" },
  },
  {
    change: ({ otherMembershipId }) => ({ membershipId: otherMembershipId }),
    then: "replaced",
    why: { property: "membershipId" },
    deletedFirst: true,
  },
  {
    change: ({ otherEnvironmentId }) => ({ environmentId: otherEnvironmentId }),
    then: "replaced",
    why: { property: "environmentId" },
    deletedFirst: false,
  },
  {
    change: { environmentId: undefined },
    then: "refused",
    why: { property: "environmentId", reason: /environment is missing: give environment/ },
  },
  {
    change: { membershipId: undefined },
    then: "refused",
    why: { property: "membershipId", reason: /membership is missing/ },
  },
  { change: { size: "small" }, then: "same", calls: [] }, // as the service chose it
  {
    change: { name: "n2", size: "large" },
    then: "updated",
    calls: restarts,
    shows: { name: "n2", size: "large", state: "started" },
  },
  ...["size", "kmsId", "opsmetricId", "backupId", "networkingId", "bafId"].map((property) => ({
    change: { [property]: "other" },
    then: "updated" as const,
    calls: restarts,
    shows: { [wireName(property)]: "other", state: "started" },
  })),
  ...["role", "databaseType"].map((property) => ({
    change: { [property]: "other" },
    then: "replaced" as const,
    why: { property },
    deletedFirst: true,
    shows: { [wireName(property)]: "other" },
  })),
  { change: { size: "" }, then: "refused", why: { property: "size", reason: /not be empty/ } },
  { change: { plan: "gold" }, then: "refused", why: { property: "plan", reason: /go into extra/ } },
]);

lifecycle("appCred", bases.appCred, [
  {
    change: { name: "web" },
    then: "updated",
    calls: [patch(`${environment}/appcreds/:credentialId`)],
    shows: { name: "web" },
  },
  {
    change: { rotateWhenChanged: { month: "May" } },
    then: "updated",
    calls: [`POST ${environment}/appcreds/:credentialId/regenerate`],
  },
  { change: { rotateWhenChanged: [] }, then: "refused", why: { property: "rotateWhenChanged", reason: /object of/ } },
  { change: { keepers: { month: "May" } }, then: "replaced", why: { property: "keepers" }, deletedFirst: false },
  {
    change: ({ otherMembershipId }) => ({ membershipId: otherMembershipId }),
    then: "replaced",
    why: { property: "membershipId" },
  },
  {
    change: ({ otherEnvironmentId }) => ({ environmentId: otherEnvironmentId }),
    then: "replaced",
    why: { property: "environmentId" },
  },
  { change: { keepers: {} }, then: "same", calls: [] },
  { change: { keepers: "x" }, then: "refused", why: { property: "keepers", reason: /object of values/ } },
  { change: { adopt: true }, then: "refused", why: { property: "adopt", reason: /no argument "adopt"/ } },
]);

const zone = { region: "us-east-2", cloud: "aws" };
for (const [kind, path] of [
  ["consortiumZone", `${consortium}/zones/:zoneId`],
  ["environmentZone", `${environment}/zones/:zoneId`],
] as const)
  lifecycle(kind, bases[kind], [
    { change: { name: "east" }, then: "updated", calls: [patch(path)], shows: { name: "east", ...zone } },
    { change: { region: "eu-west-1" }, then: "replaced", why: { property: "region" }, shows: { region: "eu-west-1" } },
    { change: { cloud: "azure" }, then: "replaced", why: { property: "cloud" }, shows: { cloud: "azure" } },
    { change: { type: "own" }, then: "replaced", why: { property: "type" } }, // nodes may name it
    { change: { type: "kaleido" }, then: "same", calls: [] },
    { change: { region: undefined }, then: "refused", why: { property: "region", reason: /region is required/ } },
    { change: { cloud: 7 }, then: "refused", why: { property: "cloud", reason: /must be text/ } },
  ]);

const gas = `${environment}/configurations/:configurationId`;
lifecycle("configuration", (net) => ({ ...bases.configuration(net), details: { gas_price: "1" } }), [
  {
    change: { name: "free", details: { gas_price: "0" } },
    then: "updated",
    calls: [patch(gas)],
    shows: { name: "free" },
  },
  { change: { details: undefined }, then: "updated", calls: [patch(gas)] },
  { change: { type: "backup" }, then: "replaced", why: { property: "type" } }, // nodes may name it
  {
    change: ({ otherMembershipId }) => ({ membershipId: otherMembershipId }),
    then: "replaced",
    why: { property: "membershipId" },
  },
  { change: { details: "x" }, then: "refused", why: { property: "details", reason: /object of settings/ } },
  { change: { type: undefined }, then: "refused", why: { property: "type", reason: /type is required/ } },
]);

const services = `${environment}/services`;
const restartsService = [
  ...[patch(`${services}/:serviceId`), `PUT ${services}/:serviceId/reset`],
  ...[`GET ${services}`, `GET ${services}`],
];
lifecycle("service", bases.service, [
  { change: { name: "store" }, then: "updated", calls: [patch(`${services}/:serviceId`)], shows: { name: "store" } },
  {
    change: { size: "large", details: { a: 1 } },
    then: "updated",
    calls: restartsService,
    shows: { size: "large", details: { a: 1 }, state: "started" },
  },
  { change: { size: "small" }, then: "same", calls: [] }, // as the service chose it
  { change: { service: "hdwallet" }, then: "replaced", why: { property: "service" } }, // nodes may name it
  { change: { service: "" }, then: "refused", why: { property: "service", reason: /not be empty/ } },
  { change: { zone: "z" }, then: "refused", why: { property: "zone", reason: /did you mean "zoneId"/ } },
]);

lifecycle("invitation", bases.invitation, [
  {
    change: { orgName: "zeta", email: "ops@zeta.example" },
    then: "updated",
    calls: [patch(`${consortium}/invitations/:invitationId`), `GET ${consortium}/invitations`],
    shows: { org_name: "zeta", email: "ops@zeta.example" },
  },
  { change: { email: "nobody" }, then: "refused", why: { property: "email", reason: /must be an address/ } },
  { change: { email: undefined }, then: "refused", why: { property: "email", reason: /email is required/ } },
]);

const funds = { rinkeby: ether, mainnet: ether };
const tethers = ["tether0001", "tether0002"].map((id) => ({ id, environment: "main", funds }));
lifecycle(
  "tetherService",
  () => ({ ...tetherArgs, minimumBalanceWei: "5", customTimeouts: { create: 60, update: 60 } }),
  [
    {
      change: { intervalHours: 5 },
      then: "updated",
      calls: [post("deactivate"), post("interval"), account, post("activate")],
      shows: { interval: 5, network: "rinkeby" },
    },
    {
      change: { network: "mainnet" },
      then: "updated",
      calls: [
        ...[tetherItself, `${tetherItself}/balance/:network`, post("deactivate"), post("targetNetwork")],
        ...[account, tetherItself, post("deploy"), post("activate")],
      ],
      shows: { network: "mainnet", deployments: { rinkeby: 1, mainnet: 1 } },
    },
    { change: { active: false }, then: "updated", calls: [account, post("deactivate")] },
    {
      change: { active: false, intervalHours: 5 },
      then: "updated",
      calls: [post("deactivate"), post("interval"), account],
    },
    { change: { active: undefined }, then: "same", calls: [] },
    { change: { minimumBalanceWei: "6" }, then: "updated", calls: [account] },
    { change: { minimumBalanceWei: 5 }, then: "same", calls: [] },
    { change: { minimumBalanceWei: undefined }, then: "updated", calls: [account] },
    { change: { customTimeouts: { create: 90 } }, then: "updated", calls: [account] },
    { change: { customTimeouts: { update: 60 } }, then: "updated", calls: [account] },
    { change: { customTimeouts: undefined }, then: "updated", calls: [account] },
    { change: { minimumBalanceWei: undefined, customTimeouts: undefined }, then: "updated", calls: [account] },
    { change: { waitForFunds: "30m" }, then: "same", calls: [] },
    { change: { extra: { gas: 1 } }, then: "same", calls: [] },
    {
      change: { tetherId: "tether0002" },
      then: "replaced",
      why: { property: "tetherId" },
      shows: { id: "tether0002", deployments: { rinkeby: 1, mainnet: 0 } },
    },
    { change: { tetherId: "short" }, then: "refused", why: { property: "tetherId", reason: /has 10 characters/ } },
    {
      change: { tetherId: undefined },
      then: "refused",
      why: { property: "tetherId", reason: /give tetherId, or consoleUrl/ },
    },
    {
      change: { network: 7 },
      then: "refused",
      why: { property: "network", reason: /must be text, such as mainnet, rinkeby/ },
    },
    { change: { intervalHours: 0 }, then: "refused", why: { property: "intervalHours", reason: /at least 1/ } },
    { change: { intervalHours: 1.5 }, then: "refused", why: { property: "intervalHours", reason: /whole number/ } },
    { change: { active: "yes" }, then: "refused", why: { property: "active", reason: /true or false/ } },
    { change: { minimumBalanceWei: "1.5" }, then: "refused", why: { property: "minimumBalanceWei", reason: /of wei/ } },
    { change: { minimumBalanceWei: -1 }, then: "refused", why: { property: "minimumBalanceWei", reason: /of wei/ } },
    { change: { minimumBalanceWei: true }, then: "refused", why: { property: "minimumBalanceWei", reason: /of wei/ } },
    { change: { adopt: true }, then: "refused", why: { property: "adopt", reason: /no argument "adopt"/ } },
  ],
  { tethers },
);
