import { once } from "node:events";
import { readdirSync, statSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { consortium } from "../../cli/command";
import { begun, built, serve, serveJson } from "../../service/child";
import { build, client, newFolder, start } from "../../service/helpers";
import { until } from "../../support/until";

beforeAll(built);

let dataDir: string;
beforeEach(() => (dataDir = newFolder()));

/** Waits for a line with a text, and returns all lines so far. */
async function printed(lines: string[], text: string): Promise<string> {
  await until(() => lines.some((line) => line.includes(text)));
  return lines.join("\n");
}

/** On a busy machine, a start says that it goes on. */
const withoutLate = (stderr: string) => stderr.replace("consortium: the service is starting …\n", "");

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

test("it imitates the hosted service on request", async () => {
  const { send, stop } = await serveJson(["--like", "hosted"], { TMPDIR: dataDir });
  const { _id } = (await send("POST", "/consortia", { name: "a" })).body;
  expect((await send("GET", `/consortia/${_id}/memberships`)).body).toHaveLength(1);
  await stop();
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
  ];
  const { ready, key, send } = await serveJson(flags, { CONSORTIUM_SERVE_API_KEY: "from-the-environment" });
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
});

/* What is shown of the address, the keys and the folder: tests/service/command.test.ts. */
describe("output", () => {
  test("--log logs requests without the key", async () => {
    const { lines } = await serve(["--log", "--data", dataDir, "--api-key", "my-key"]);
    const [, baseUrl = ""] = /(http\S+)/.exec(await printed(lines, "Ctrl+C"))!;
    await client(baseUrl, "my-key")("GET", "/consortia");
    expect(await printed(lines, "/consortia")).not.toContain("my-key");
  });

  test("--quiet prints nothing", async () => {
    const port = 20_000 + (process.pid % 10_000); // not a port that the system assigns: another process may get it meanwhile
    const { child, ended } = begun(["serve", "--quiet", "--port", String(port), "--data", dataDir, "--api-key", "k"]);
    const send = client(`http://127.0.0.1:${port}/api/v1`, "k");
    while ((await send("GET", "/consortia").catch(() => undefined))?.status !== 200);
    child.kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});

const shown = (code: string) => `[${code}: docs/troubleshooting.md#${code}]`;

/* Help, version, unknown options: tests/cli/command-line.test.ts. */
describe("errors are one sentence, with exit code 1", () => {
  test.each([
    [["serve", "--port", "http"], /--port.*must be a whole number from 0 to 65535/],
    [["serve", "--port", "70000"], /--port.*must be a whole number from 0 to 65535/],
    [["serve", "--tether", "a b"], /^consortium: .*tethers.0.id/],
    [["serve", "--data", ""], /It must name a folder/],
    [["serve", "--limit", "gas"], /It must be name=number, with one of gas, memory, batch/],
    [["serve", "--limit", "colour=5"], /It must be name=number/],
    [["serve", "--port", "0", "--limit", "gas=0"], /callLimits\.gas.* \[invalid-setting: /],
  ])("%j", async (args, message) => {
    const { code, stdout, stderr } = await consortium(args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain("    at ");
  });

  test("a port in use, and who has it", async () => {
    const { service } = await start();
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const taken = [service.port, (other.address() as AddressInfo).port];
    const whose = [
      "another Consortium service, such as that of npm start. Use that one, or choose another port:",
      "another program. Choose another port:",
    ];
    for (const [at, port] of taken.entries()) {
      const { code, stderr } = await consortium(["serve", "--port", `${port}`]);
      const next = `--port ${port + 1}, or --port 0 for any free one.`;
      const why = `consortium: The port is in use: 127.0.0.1:${port} is taken by ${whose[at]} ${next} ${shown("port-taken")}\n`;
      expect([code, withoutLate(stderr)]).toEqual([1, why]);
    }
    other.close();
  });
});
