import { readdirSync, statSync } from "node:fs";
import { connection } from "../../cli/command";
import { allOf, leftIn, realService } from "../../cli/probed";
import { begun, built, serveJson } from "../../service/child";
import { build, newFolder } from "../../service/helpers";
import { until } from "../../support/until";

/* `serve` and `probe` as processes. (What they print and save: tests/service/command.test.ts, tests/cli/probe.test.ts.) */

beforeAll(built);

let dataDir: string;
beforeEach(() => (dataDir = newFolder()));

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s ends it cleanly, with open connections", async (signal) => {
  const { child, ended, ready, send } = await serveJson([], { TMPDIR: dataDir });
  expect(ready).toMatchObject({ pid: child.pid, dataDir: null, organizations: [{ name: "local" }] });
  expect(ready.baseUrl).toBe(`${ready.url}/api/v1`);
  expect(statSync(ready.apiKeyFile).mode & 0o777).toBe(0o600);
  expect((await send("POST", "/consortia", { name: "a" })).status).toBe(201);
  child.kill(signal);
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(readdirSync(dataDir)).toEqual([]);
});

test("a ledger is idle after the time of --idle-after", async () => {
  const { send } = await serveJson(["--idle-after", "0", "--node-start", "0", "--environment-start", "0"]);
  const { paths } = await build(send, { provider: "geth", consensus_type: "poa", block_period: 1 });
  await until(async () => /Idle: /.test((await send("GET", `${paths.node}/logs/geth`)).text));
});

test("every flag reaches the service", async () => {
  const flags = [
    ...["--organization", "acme", "--organization", "bmce", "--tether", "t1=prod", "--tether", "t2"],
    ...["--node-start", "60", "--environment-start", "0", "--latency", "30"],
    ...["--limit-consortia", "1", "--limit-environments", "1", "--limit-nodes", "1"],
    ...["--limit-objects", "1", "--limit-bytes", "1"], // without effect
    "--log",
  ];
  const { ready, key, send, out } = await serveJson(flags, { CONSORTIUM_SERVE_API_KEY: "from-the-environment" });
  expect(key).toBe("from-the-environment");
  expect(ready.organizations.map(({ name }) => name)).toEqual(["acme", "bmce"]);
  const began = performance.now();
  const made = async (path: string, body: object) => (await send("POST", path, body)).body._id;
  const consortiumPath = `/consortia/${await made("/consortia", { name: "a" })}`;
  expect(performance.now() - began).toBeGreaterThanOrEqual(25);
  const environmentBody = { provider: "geth", consensus_type: "poa" };
  const environment = `${consortiumPath}/environments/${await made(`${consortiumPath}/environments`, environmentBody)}`;
  const membership_id = await made(`${consortiumPath}/memberships`, { org_name: "m" });
  await made(`${environment}/nodes`, { membership_id });
  expect((await send("GET", environment)).body.state).toBe("setup");
  expect((await send("GET", `${environment}/nodes`)).body).toMatchObject([{ state: "initializing" }]);
  expect((await send("POST", "/consortia", { name: "b" })).status).toBe(409);
  expect((await send("POST", `${consortiumPath}/environments`, environmentBody)).status).toBe(409);
  expect((await send("POST", `${environment}/nodes`, { membership_id })).status).toBe(409);
  for (const id of ["t1", "t2"]) expect((await send("GET", `/tether/${id}/account`)).status).toBe(200);
  await until(() => (out.stdout + out.stderr).includes("/consortia"));
  expect(out.stdout + out.stderr).not.toContain(key);
});

test("a second signal to probe does not wait for an unanswered call", async () => {
  const service = await realService({ timing: { nodeStart: 600_000 } });
  service.faults.add({ kind: "hang", method: "DELETE", times: Infinity });
  const { child, ended } = begun(["probe", "--wait", "6", "--yes"], connection(service));
  await until(() => service.calls.some(({ method, path }) => method === "POST" && path.endsWith("/nodes")));
  child.kill("SIGINT");
  await until(() => service.calls.some(({ method }) => method === "DELETE"));
  child.kill("SIGINT");
  const { code, stderr } = await ended;
  expect([code, leftIn(stderr)]).toEqual([
    130,
    allOf(service)
      .reverse()
      .map((one) => `${one}: not waited for`),
  ]);
});
