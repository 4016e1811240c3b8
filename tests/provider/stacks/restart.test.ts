import { Node } from "../../../sdk";
import { type NodeFields } from "../../../sdk/generated";
import { type ServiceOptions } from "../../../service/index";
import { Stack } from "../../support/double/stack";
import { send } from "../../support/network";
import { newProcess, setEnvironment } from "../../support/service";
import { ledger, onBothAdapters } from "../../support/stacks";

/* Changes in place that restart a node: PATCH, then PUT …/reset, then a wait until it has started again. */

const program = (node: NodeFields = {}, args = {}) =>
  ledger(({ environment, membership }) => new Node("n", { environment, membership, ...node }), args);
const large = program({ size: "large" });

const place = "/consortia/:consortiumId/environments/:environmentId/nodes/:nodeId";
const [patched, reset] = [`PATCH ${place}`, `PUT ${place}/reset`];

onBothAdapters((make, adapter) => {
  /** A stack with a node of the size that the service chose. */
  async function made(options: ServiceOptions = {}) {
    const world = await make(program(), options);
    const { stack, service } = world;
    const node = () => service.store.nodes.list()[0]!;
    const { consortiumId, environmentId } = stack.of("n").outputs as Record<string, string>;
    const within = `/consortia/${consortiumId}/environments/${environmentId}`;
    return { ...world, node, within, nodePath: `${within}/nodes/${stack.of("n").id}` };
  }

  test("size: the preview says that it restarts; up changes, resets, and waits until it has started", async () => {
    const { stack, writes, service, expectChanges } = await made({ timing: { nodeStart: 40_000 } });
    const preview = await stack.preview(large);
    expect(preview.changes).toEqual(["update Node n"]);
    expect(preview.said).toContain('node "n": restarts, to change size');
    expect(writes()).toEqual([]);
    // Removed again, the request is withdrawn, and the service chooses.
    for (const [wanted, size] of [
      [large, "large"],
      [program(), "small"],
    ] as const) {
      await expectChanges(wanted, ["update Node n"]);
      expect(writes()).toEqual([patched, reset]);
      expect(stack.of("n").outputs).toMatchObject({ size, state: "started" });
    }
    expect(service.store.nodes.list()).toHaveLength(1);
  });

  test("without reset, the error says that it was changed, and the next run tries again", async () => {
    const { stack, service, writes, node } = await made();
    service.setAnswers({ reset: 405 });
    const { failure } = await stack.up(large);
    expect(failure).toMatch(/restart it in the console.*this service cannot.*was changed, but not restarted/s);
    expect([writes(), node().fields.size]).toEqual([[patched, reset], "large"]);
    const second = await stack.up(large);
    expect([second.errors, writes()]).toEqual([[], [reset]]);
    expect(second.said).toContain("Its last change takes effect after a restart");
    expect((await stack.up(large)).changes).toEqual([]);
  });

  test("a run that was killed between PATCH and reset: the next one restarts it", async () => {
    const { stack, service, writes, nodePath } = await made();
    await send(service, "PATCH", nodePath, { size: "large" }); // the state knows nothing of it
    service.clearCalls();
    newProcess();
    const run = await stack.up(large);
    expect([run.errors, writes()]).toEqual([[], [patched, reset]]);
    expect(stack.of("n").outputs).toMatchObject({ size: "large", state: "started" });
  });

  test("adoption restarts only for changes that need it", async () => {
    const { stack, writes } = await made();
    setEnvironment({ CONSORTIUM_ADOPT: "true" });
    for (const [size, calls] of [
      ["small", []],
      ["large", [patched, reset]],
    ] as const) {
      const adopting = new Stack(adapter);
      newProcess();
      expect(await adopting.up(program({ size }))).toMatchObject({ errors: [] });
      expect(writes()).toEqual(calls);
      expect(adopting.of("n")).toMatchObject({ id: stack.of("n").id, outputs: { size, state: "started" } });
    }
  });
});
