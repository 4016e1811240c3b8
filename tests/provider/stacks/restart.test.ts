import { Consortium, Environment, Membership, Node } from "../../../sdk";
import { type EnvironmentFields, type NodeFields } from "../../../sdk/generated";
import { type ServiceOptions } from "../../../service/index";
import { type Run, Stack } from "../../support/double/stack";
import { send } from "../../support/network";
import { lostAnswers, titled } from "../../support/faults";
import { impatient, newProcess, setEnvironment, start } from "../../support/service";

/* What a node is changed in place for restarts it: PATCH, then PUT …/reset, then waiting until it has started again. */

const program =
  (node: NodeFields = {}, environment: Omit<EnvironmentFields, "provider" | "consensusType"> = {}) =>
  (): void => {
    const consortium = new Consortium("c");
    const membership = new Membership("m", { consortium });
    const args = { consortium, provider: "quorum", consensusType: "raft", ...environment } as const;
    new Node("n", { environment: new Environment("e", args), membership, ...node });
  };

const changes = ({ steps }: Run): string[] => steps.filter((step) => !/^(same|refresh) /.test(step));
const place = "/consortia/:consortiumId/environments/:environmentId/nodes/:nodeId";
const [patched, reset] = [`PATCH ${place}`, `PUT ${place}/reset`];

describe.each(["dynamic", "plugin"] as const)("%s", (adapter) => {
  /** A stack with a node that has the size which the service chose. */
  async function made(options: ServiceOptions = {}, first = program()) {
    const started = await start(options);
    const stack = new Stack(adapter);
    expect(await stack.up(first)).toMatchObject({ errors: [] });
    started.service.clearCalls();
    const writes = (): string[] => started.calls().filter((call) => !call.startsWith("GET"));
    const node = () => started.service.store.nodes.list()[0]!;
    const nodePath = (): string => {
      const { consortiumId, environmentId } = stack.of("n").outputs as Record<string, string>;
      return `/consortia/${consortiumId}/environments/${environmentId}/nodes/${stack.of("n").id}`;
    };
    return { ...started, stack, writes, node, nodePath };
  }

  test("what is left out is no change, whatever the service shows, also after a refresh", async () => {
    const { stack, writes, service } = await made();
    expect(stack.of("n").outputs).toMatchObject({ size: "small", role: "validator" });
    expect(stack.of("e").outputs).toMatchObject({ releaseId: "quorum-1", blockPeriod: 1 });
    expect(service.store.nodes.list()[0]!.fields).not.toHaveProperty("kms_id");
    expect(changes(await stack.preview(program()))).toEqual([]);
    expect(changes(await stack.up(program(), { refresh: true }))).toEqual([]);
    expect(writes()).toEqual([]);
  });

  test("a create sends what is given, and nothing else of it", async () => {
    const { service } = await start({ answers: { strictBodies: true } });
    const stack = new Stack(adapter);
    const run = await stack.up(program({ size: "large", kmsId: "k" }, { blockPeriod: 2, multiRegion: true }));
    expect(run.errors).toEqual([]);
    const bodyOf = (end: string) =>
      service.calls.find(({ method, route }) => method === "POST" && route.endsWith(end))!.body;
    expect(bodyOf("/nodes")).toEqual({ membership_id: stack.of("m").id, name: "n", size: "large", kms_id: "k" });
    const features = { block_period: 2, test_features: { multi_region: true } };
    const plain = { name: "e", provider: "quorum", consensus_type: "raft" };
    expect(bodyOf("/environments")).toEqual({ ...plain, ...features });
  });

  test("size: the preview says that it restarts; up changes, resets, and waits until it has started", async () => {
    const { stack, writes, node, service } = await made({ timing: { nodeStart: 40_000 } });
    const preview = await stack.preview(program({ size: "large" }));
    expect(changes(preview)).toEqual(["update Node n"]);
    expect(preview.lines.join("\n")).toContain('node "n": restarts, to change size');
    expect(writes()).toEqual([]);
    const run = await stack.up(program({ size: "large" }));
    expect([run.errors, changes(run), writes()]).toEqual([[], ["update Node n"], [patched, reset]]);
    expect(node().fields).toMatchObject({ size: "large" });
    expect(stack.of("n").outputs).toMatchObject({ size: "large", state: "started" });
    expect(changes(await stack.up(program({ size: "large" }), { refresh: true }))).toEqual([]);
    // Left out again, what was asked is taken back, and the service chooses.
    writes();
    const without = await stack.up(program());
    expect([without.errors, changes(without), writes()]).toEqual([[], ["update Node n"], [patched, reset]]);
    expect(stack.of("n").outputs).toMatchObject({ size: "small", state: "started" });
    expect(changes(await stack.up(program(), { refresh: true }))).toEqual([]);
    expect(service.store.nodes.list()).toHaveLength(1);
  });

  test("a name alone is changed without a restart", async () => {
    const { stack, writes } = await made();
    const run = await stack.up(program({ name: "other" }));
    expect([run.errors, writes()]).toEqual([[], [patched]]);
    expect(run.lines.join("\n")).not.toContain("restarts");
  });

  test("a replacement says nothing of a restart", async () => {
    const { stack } = await made();
    const preview = await stack.preview(program({ size: "large", databaseType: "rocksdb" }));
    expect(changes(preview)).toEqual(["delete Node n", "create Node n"]);
    expect(preview.lines.join("\n")).not.toContain("restarts");
  });

  test("an id of what is there is taken, and one of nothing is refused by its name", async () => {
    const { stack, service, writes, nodePath, node } = await made();
    const environment = nodePath().replace(/\/nodes\/.*/, "");
    const configuration = { name: "gas", type: "node_config", membership_id: stack.of("m").id };
    const { _id } = await send(service, "POST", `${environment}/configurations`, configuration);
    service.clearCalls();
    const refused = await stack.up(program({ nodeConfigId: "nothing" }));
    expect(refused.errors[0]!.message).toMatch(/HTTP 400.*node_config_id/s);
    expect(node().fields).not.toHaveProperty("node_config_id");
    expect(writes()).toEqual([patched]);
    expect(await stack.up(program({ nodeConfigId: _id }))).toMatchObject({ errors: [] });
    expect([node().fields.node_config_id, writes()]).toEqual([_id, [patched, reset]]);
  });

  test.each([404, 405, 501])("without PATCH (%i): it says what can be done, and nothing is changed", async (patch) => {
    const { stack, service, writes, node } = await made();
    service.setAnswers({ patch });
    const { errors } = await stack.up(program({ size: "large" }));
    expect(errors[0]!.message).toMatch(/cannot change size in place .*Nothing was changed.*console/s);
    expect([node().fields.size, writes()]).toEqual(["small", [patched]]);
    expect(changes(await stack.up(program()))).toEqual([]);
  });

  test.each([404, 405, 501])(
    "without reset (%i): it says that it was changed, and the next run asks once more",
    async (status) => {
      const { stack, service, writes, node } = await made();
      service.setAnswers({ reset: status });
      const { errors } = await stack.up(program({ size: "large" }));
      expect(errors[0]!.message).toMatch(/was changed, but not restarted.*This service cannot restart it.*console/s);
      expect(writes()).toEqual([patched, reset]);
      expect(node().fields.size).toBe("large");
      const second = await stack.up(program({ size: "large" }));
      expect([second.errors, writes()]).toEqual([[], [reset]]);
      expect(second.lines.join("\n")).toContain("Its last change takes effect after a restart");
      expect(changes(await stack.up(program({ size: "large" })))).toEqual([]);
    },
  );

  const refusals = [
    ["is refused for now", { kind: "status", status: 500, times: 10 }],
    ["is refused", { kind: "status", status: 409, times: 1 }],
  ] as const;
  test.each(refusals.flatMap(([what, fault]) => [true, false].map((refresh) => [what, refresh, fault] as const)))(
    "a restart that %s is made up for by the next up (refreshed: %s)",
    async (_, refresh, fault) => {
      const { stack, service, writes } = await made();
      const rule = service.faults.add({ ...fault, errorMessage: "not now", method: "PUT", route: /\/reset$/ });
      const { errors } = await stack.up(program({ size: "large" }));
      expect(errors[0]!.message).toMatch(/was changed, but not restarted.*pulumi up.*restarts it/s);
      rule.remove();
      writes();
      newProcess();
      const preview = await stack.preview(program({ size: "large" }), { refresh });
      expect(preview.lines.join("\n")).toContain("restarts, to change what the last run changed");
      const run = await stack.up(program({ size: "large" }), { refresh });
      expect([run.errors, writes()]).toEqual([[], [reset]]);
      expect(changes(await stack.up(program({ size: "large" }), { refresh }))).toEqual([]);
    },
  );

  test("a run that was killed between PATCH and reset: the next one restarts it", async () => {
    const { stack, service, writes, nodePath } = await made();
    await send(service, "PATCH", nodePath(), { size: "large" }); // the state knows nothing of it
    service.clearCalls();
    newProcess();
    const run = await stack.up(program({ size: "large" }));
    expect([run.errors, writes()]).toEqual([[], [patched, reset]]);
    expect(stack.of("n").outputs).toMatchObject({ size: "large", state: "started" });
  });

  test.each(titled(lostAnswers))("a reset whose answer is lost is asked for again: %s", async (_, fault) => {
    impatient(fault);
    const { stack, service, node } = await made();
    service.faults.add({ ...fault, method: "PUT", route: /\/reset$/ });
    const run = await stack.up(program({ size: "large" }));
    if (run.errors.length > 0) await stack.up(program({ size: "large" }));
    expect(stack.of("n").outputs).toMatchObject({ size: "large", state: "started" });
    expect(node().fields.size).toBe("large");
    expect(changes(await stack.up(program({ size: "large" })))).toEqual([]);
  });

  test("a strict service that does not know a field: the error names it, and nothing was made", async () => {
    const { service } = await start();
    const errorMessage = "kms_id is not allowed";
    service.faults.add({ kind: "status", status: 400, errorMessage, method: "POST", route: /\/nodes$/ });
    const stack = new Stack(adapter);
    const { errors } = await stack.up(program({ kmsId: "k" }));
    expect(errors[0]).toMatchObject({ name: "n", message: expect.stringMatching(/HTTP 400.*kms_id/s) as string });
    expect([service.store.nodes.list(), stack.resources.has("n")]).toEqual([[], false]);
    expect(await stack.up(program())).toMatchObject({ errors: [] });
  });

  test("a service that knows the specification only gets nothing new, and loses nothing", async () => {
    const { stack, service, calls, writes } = await made({ answers: { extended: false } });
    calls();
    expect(changes(await stack.up(program(), { refresh: true }))).toEqual([]);
    expect(writes()).toEqual([]);
    const { errors } = await stack.up(program({ size: "large" }));
    expect(errors[0]!.message).toMatch(/HTTP 400.*size/);
    expect(changes(await stack.up(program()))).toEqual([]);
    expect(service.store.nodes.list()).toHaveLength(1);
  });

  test("adoption restarts where it changes what that takes, and only there", async () => {
    const { stack, writes } = await made();
    const adopting = new Stack(adapter);
    setEnvironment({ CONSORTIUM_ADOPT: "true" });
    newProcess();
    expect(await adopting.up(program({ size: "small" }))).toMatchObject({ errors: [] });
    expect(writes()).toEqual([]);
    const second = new Stack(adapter);
    newProcess();
    expect(await second.up(program({ size: "large", name: "n" }))).toMatchObject({ errors: [] });
    expect(writes()).toEqual([patched, reset]);
    expect(second.of("n").outputs).toMatchObject({ size: "large", state: "started" });
    expect(second.of("n").id).toBe(stack.of("n").id);
  });

  test("a state of 0.2.0, where these were outputs or unknown, needs no change and no call", async () => {
    const { stack, calls } = await made();
    for (const key of ["size", "firstUserAccount"]) delete stack.of("n").outputs[key];
    expect(stack.of("n").outputs).toMatchObject({ role: "validator" });
    expect(stack.of("e").outputs).toMatchObject({ releaseId: "quorum-1", blockPeriod: 1 });
    expect(stack.of("e").inputs).not.toHaveProperty("releaseId");
    calls();
    expect(changes(await stack.preview(program()))).toEqual([]);
    expect(changes(await stack.up(program()))).toEqual([]);
    expect(calls()).toEqual(["GET /consortia"]); // the preview's, of the key
    expect(changes(await stack.up(program(), { refresh: true }))).toEqual([]);
    // Written into the program as they are, they are no change either.
    const said = program({ role: "validator", size: "small" }, { releaseId: "quorum-1", blockPeriod: 1 });
    expect(changes(await stack.up(said))).toEqual([]);
    expect(calls().filter((call) => !call.startsWith("GET"))).toEqual([]);
  });
});
