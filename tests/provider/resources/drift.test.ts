import { bases, type Collected, collected, nameField, nameKey, named, routeOf, storeOf } from "../../support/bases";
import { inBothManners, world, type World } from "../../support/lifecycle";
import { send } from "../../support/network";
import { newProcess } from "../../support/service";

/* What refresh and destroy make of what other people did. */

async function created(kind: Collected): Promise<World> {
  const here = await world(kind);
  expect(await here.engine.up(bases[kind](here.net))).toEqual({ then: "created" });
  newProcess();
  here.calls();
  return here;
}

inBothManners(() => {
  describe("a property that somebody changed is read, and put back by the next update", () => {
    test.each(named)("%s: another name, and one that differs in case alone", async (kind) => {
      const { engine, service, net, shown } = await created(kind);
      const args = bases[kind](net);
      const name = String(args[nameKey(kind)]);
      for (const theirs of ["theirs", name.toUpperCase()]) {
        storeOf(service, kind).patch(engine.kept!.id, { [nameField(kind)]: theirs });
        newProcess();
        expect(await engine.refresh()).toBe("there");
        const shows = { [nameKey(kind)]: theirs };
        expect(engine.kept).toMatchObject({ inputs: shows, outputs: shows });
        expect(await engine.up(args)).toEqual({ then: "updated" });
        expect(await shown()).toMatchObject({ [nameField(kind)]: name });
      }
    });

    test.each([null, ""])("a description that was taken away (%j) counts as changed", async (description) => {
      const { engine, service, net, shown } = await created("consortium");
      service.store.consortia.patch(engine.kept!.id, { description } as Record<string, unknown>);
      await engine.refresh();
      expect(engine.outputs.description).toBe("");
      expect(await engine.up(bases.consortium(net))).toEqual({ then: "updated" });
      expect(await shown()).toMatchObject({ description: "old" });
    });
  });

  describe("refresh of what nobody touched", () => {
    test.each(collected)("%s: one list call, the same state, and no change", async (kind) => {
      const { engine, net, calls } = await created(kind);
      const { outputs, inputs } = engine.kept!;
      await engine.refresh();
      expect(calls()).toEqual([`GET ${routeOf(kind)}`]);
      expect(engine.outputs).toEqual(outputs);
      expect(engine.kept!.inputs).toMatchObject(inputs);
      expect(await engine.up(bases[kind](net))).toEqual({ then: "same" });
      expect(calls()).toEqual([]);
    });
  });

  describe("deleted by somebody", () => {
    test.each(collected)("%s: refresh says gone, and the next up makes it again", async (kind) => {
      const { engine, service, net, count } = await created(kind);
      const others = (await count()) - 1;
      storeOf(service, kind).remove(engine.kept!.id);
      expect(await engine.refresh()).toBe("gone");
      expect(await engine.up(bases[kind](net))).toEqual({ then: "created" });
      expect(await count()).toBe(others + 1);
    });

    test.each(["membership", "environment", "node", "appCred"] as const)("%s: gone with its parent", async (kind) => {
      const { engine, service, net } = await created(kind);
      if (kind === "node" || kind === "appCred") service.store.environments.remove(net.environmentId);
      else service.store.consortia.remove(net.consortiumId);
      expect(await engine.refresh()).toBe("gone");
    });

    test("an environment that is listed as deleted is gone, and so is its node", async () => {
      const { engine, service, net } = await created("node");
      service.setTiming({ deletedVisible: 1_000_000 });
      await send(service, "DELETE", `/consortia/${net.consortiumId}/environments/${net.environmentId}`);
      expect(await engine.refresh()).toBe("gone");
    });

    test("an environment that somebody deletes is gone before the service has removed it", async () => {
      const { engine, service, net } = await created("environment");
      service.setTiming({ deleting: 1_000_000 });
      await send(service, "DELETE", `/consortia/${net.consortiumId}/environments/${engine.kept!.id}`);
      expect(await engine.refresh()).toBe("gone");
    });

    test.each(collected)("%s: destroy of what is gone succeeds, by asking only", async (kind) => {
      const { engine, service, calls } = await created(kind);
      storeOf(service, kind).remove(engine.kept!.id);
      await engine.destroy();
      const made = calls();
      expect(made.filter((call) => !call.startsWith("GET "))).toEqual([expect.stringMatching(/^DELETE /)]);
    });
  });
});
