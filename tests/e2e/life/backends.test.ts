import { readdirSync } from "node:fs";
import { join } from "node:path";
import { run, treeOf } from "../../../tools/lib/processes.mjs";
import { type Backend } from "../support/backends/programs";
import { startPostgres } from "../support/backends/postgres";
import { startS3 } from "../support/backends/s3";
import { cli, failed, finished } from "../support/stack";
import { until } from "../../support/until";
import { type World, world } from "../support/world";
import { patiently } from "../../support/jest/patience";

// The first run on a machine installs the servers.
jest.setTimeout(patiently(600_000));

const network = `
  const { AppCred, Consortium, Environment, Membership, Node } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  const membership = new Membership("m", { consortium });
  const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft" });
  new Node("n", { environment, membership });
  const cred = new AppCred("a", { environment, membership });
  exports.password = cred.password;
  exports.header = cred.basicAuthHeader;
`;
const oneMore = `${network} new Node("second", { environment, membership });`;

/** One story each: every test goes on where the one before it ended. */
describe.each([
  ["PostgreSQL", startPostgres],
  ["an S3-compatible store", startS3],
])("a stack with its state in %s", (_, start) => {
  let backend: Backend;
  let w: World;

  beforeAll(async () => {
    backend = await start();
    // Nodes start when a test lets them: until then a run is at work, however slow the machine is.
    const options = {
      inline: true,
      timing: { nodeStart: 3_600_000 },
      env: { PULUMI_BACKEND_URL: backend.url, ...backend.env },
    };
    w = await world(network, options);
  });

  afterAll(() => backend?.stop());

  const nodes = () => w.service.store.nodes.list();
  const letStart = (): void => nodes().forEach(({ id }) => w.service.store.nodes.setState(id, "started"));
  const beginUp = async (count: number) => {
    const end = finished(w.stack.start(["up", "--yes", "--skip-preview"]));
    await until(() => nodes().length === count);
    return { end };
  };

  test("is built, and its state holds no secret in clear", async () => {
    const { end } = await beginUp(1);
    letStart();
    expect(await end).toMatchObject({ code: 0 });
    expect(readdirSync(join(w.stack.folder, "state"))).toEqual([]);
    const { password, header } = (await w.stack.outputs()) as Record<string, string>;
    const text = await w.stack.exported();
    expect([password, header].filter((one) => text.includes(one!))).toEqual([]);
  });

  test("a second run at the same time fails because of the lock, nothing is lost, and then nothing is left to change", async () => {
    w.stack.program(oneMore);
    const { end } = await beginUp(2);
    const { folder: cwd, env } = w.stack;
    const second = await failed(run((await cli()).command, ["up", "--yes", "--non-interactive"], { cwd, env })); // somebody else's
    expect(second).toMatch(/the stack is currently locked by 1 lock/);
    expect(second).toContain("pulumi cancel");
    letStart();
    expect(await end).toMatchObject({ code: 0 });
    expect((await w.network()).nodes).toHaveLength(2);
    expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  });

  test("a killed run leaves its lock, and pulumi cancel removes it; it is destroyed, and nothing stays behind", async () => {
    const fault = w.service.faults.add({ method: "GET", route: "/consortia", kind: "hang" });
    const killed = w.stack.start(["refresh", "--yes", "--skip-preview"]);
    const end = finished(killed);
    await until(() => fault.hits > 0);
    for (const { pid } of treeOf(killed.pid!).toReversed()) process.kill(pid, "SIGKILL");
    await end;
    w.service.faults.clear();
    const refused = await w.stack.destroy();
    expect(refused).not.toMatchObject({ code: 0 });
    expect(refused.text).toMatch(/currently locked by 1 lock/);
    await w.stack.ok(["cancel", "--yes"]);
    expect((await w.network()).nodes).toHaveLength(2);
    expect(await w.stack.destroy()).toMatchObject({ code: 0 });
    expect((await w.network()).consortia).toEqual([]);
    await w.stack.ok(["stack", "rm", "test", "--yes"]);
    const { stdout } = await w.stack.ok(["stack", "ls", "--json"]);
    expect(JSON.parse(stdout)).toEqual([]);
  });
});
