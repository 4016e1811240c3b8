import { wireName } from "../../../provider/core/field";
import { bases } from "../../support/bases";
import { lifecycle, type Row } from "../../support/lifecycle";
import { account, ether, post, tether as tetherItself, tetherArgs } from "../../support/tethered";

/* Every property of every resource: the effect of a change, its calls, and the result in the service. */

const patch = (where: string) => `PATCH ${where}`;
const consortium = "/consortia/:consortiumId";
const environment = `${consortium}/environments/:environmentId`;

/** Another member or environment replaces. */
const another = (property: "membershipId" | "environmentId", deletedFirst = false): Row => ({
  change: (net) => ({ [property]: property === "membershipId" ? net.otherMembershipId : net.otherEnvironmentId }),
  then: "replaced",
  why: { property },
  deletedFirst,
});

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
  {
    change: { description: undefined },
    then: "updated",
    calls: [patch(consortium), "GET /consortia"],
    shows: { description: "" },
  },
  { change: { extra: { plan: 1 } }, then: "replaced", why: { property: "extra" } },
  { change: { customTimeouts: { create: 60 } }, then: "updated", calls: [] },
  { change: { name: " " }, then: "refused", why: { property: "name", reason: /must not be empty/ } },
]);

lifecycle("membership", bases.membership, [
  {
    change: { orgName: "zeta" },
    then: "updated",
    calls: [patch(`${consortium}/memberships/:membershipId`)],
    shows: { org_name: "zeta" },
  },
  { change: { extra: { plan: 1 } }, then: "replaced", why: { property: "extra" } },
]);

lifecycle("environment", (net) => ({ ...bases.environment(net), description: "old" }), [
  { change: { name: "prod" }, then: "updated", calls: [patch(environment)], shows: { name: "prod" } },
  {
    change: { description: "new" },
    then: "updated",
    calls: [patch(environment), `GET ${consortium}/environments`],
    shows: { description: "new" },
  },
  {
    change: { description: undefined },
    then: "updated",
    calls: [patch(environment), `GET ${consortium}/environments`],
    shows: { description: "" },
  },
  ...(
    [
      ["consensusType", "ibft", { consensus_type: "ibft" }],
      ["chainId", 77, { chain_id: 77 }],
      ["blockPeriod", 2, { block_period: 2 }],
      ["prefundedAccounts", { [`0x${"a".repeat(40)}`]: { balance: "5" } }, {}],
      ["multiRegion", true, { test_features: { multi_region: true } }],
      ["testFeatures", { quick: true }, { test_features: { quick: true } }],
    ] as const
  ).map(([property, value, shows]) => ({
    change: { [property]: value },
    then: "replaced" as const,
    why: { property },
    shows,
  })),
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
  another("membershipId", true),
  another("environmentId"),
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
  { change: { keepers: { month: "May" } }, then: "replaced", why: { property: "keepers" }, deletedFirst: false },
  another("membershipId"),
  another("environmentId"),
  { change: { keepers: {} }, then: "same", calls: [] },
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
    { change: { type: "other:own" }, then: "replaced", why: { property: "type" } }, // nodes may name it
    { change: { type: "kaleido" }, then: "same", calls: [] },
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
  { change: { type: "other:backup" }, then: "replaced", why: { property: "type" } }, // nodes may name it
  another("membershipId"),
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
]);

lifecycle("invitation", bases.invitation, [
  {
    change: { orgName: "zeta", email: "ops@zeta.example" },
    then: "updated",
    calls: [patch(`${consortium}/invitations/:invitationId`), `GET ${consortium}/invitations`],
    shows: { org_name: "zeta", email: "ops@zeta.example" },
  },
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
    { change: { minimumBalanceWei: "05" }, then: "same", calls: [] },
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
    ...["short", "er01?tab=1", "1/settings", "ether0001 "].map((tetherId) => ({
      change: { tetherId },
      then: "refused" as const,
      why: { property: "tetherId", reason: /last 10 characters of the tether service's console address/ },
    })),
  ],
  { tethers },
);
