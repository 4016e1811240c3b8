import { setEnvironment, start } from "../support/service";
import { Stack } from "../support/double/stack";
import { until } from "../support/until";
import { programOf, type Spec } from "./shapes";

/* A service that refuses a third of all requests. */

const inConsortium = { consortiumId: "c" };
const quorum = { provider: "quorum", consensusType: "raft" };
/** The reference network, and members enough to fill any limit. */
const specs: Spec[] = [
  { key: "c", kind: "consortium", args: { name: "coffee-trade" }, parents: {} },
  { key: "e", kind: "environment", args: { name: "ledger", ...quorum }, parents: inConsortium },
  ...Array.from({ length: 42 }, (_, at): Spec => {
    const key = `m${at}`;
    return { key, kind: "membership", args: { orgName: key }, parents: inConsortium };
  }),
  ...["m0", "m0", "m1", "m1"].map((member, at): Spec => {
    const parents = { ...inConsortium, environmentId: "e", membershipId: member };
    return { key: `n${at}`, kind: "node", args: { name: `n${at}` }, parents };
  }),
];

const limits = test.each([
  ["", 8],
  ["2", 2],
]);

limits("CONSORTIUM_MAX_CONCURRENCY=%s: up completes, with at most %d requests in flight", async (setting, limit) => {
  const { service } = await start({ timing: { latency: 20 } });
  setEnvironment({ CONSORTIUM_MAX_CONCURRENCY: setting });
  const stack = new Stack("dynamic");
  service.faults.add({ kind: "status", status: 429, every: 3 });
  expect(await stack.up(programOf(specs))).toMatchObject({ errors: [] });
  service.faults.clear();
  const refused = service.calls.filter(({ status }) => status === 429).length;
  expect(refused).toBeGreaterThan(20);
  expect(service.inFlight.max).toBeLessThanOrEqual(limit);
  expect(service.store.nodes.list()).toHaveLength(4);
  expect(service.store.memberships.list()).toHaveLength(42);
});

limits("CONSORTIUM_MAX_CONCURRENCY=%s: calls that hang take all of %d places, and no more", async (setting, limit) => {
  const { service } = await start();
  setEnvironment({ CONSORTIUM_MAX_CONCURRENCY: setting, CONSORTIUM_REQUEST_TIMEOUT: "2" });
  const route = "/consortia/:consortiumId/memberships";
  service.faults.add({ kind: "hang", method: "POST", route, times: Infinity });
  const run = new Stack("dynamic").up(programOf(specs));
  await until(() => service.inFlight.now === limit);
  service.faults.clear();
  expect(await run).toMatchObject({ errors: [] });
  expect(service.inFlight.max).toBe(limit);
  expect(service.store.memberships.list()).toHaveLength(42);
});
