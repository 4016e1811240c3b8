import { bases, collected, nameField, nameKey, routeOf, storeOf } from "../../support/bases";
import { inBothManners, made, world } from "../../support/lifecycle";
import { send } from "../../support/network";
import { newProcess } from "../../support/service";
import { rewriting } from "../../support/virtual-time";

/* How refresh and destroy handle changes by other people. */

inBothManners(() => {
  describe("a property that somebody changed is read, and restored by the next update", () => {
    test.each(["membership", "node", "appCred"] as const)(
      "%s: another name, and one that differs only in case",
      async (kind) => {
        const { engine, service, net, shown } = await made(kind);
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
      },
    );

    test.each([null, "", undefined])("a description that was removed (%j) counts as changed", async (description) => {
      const { engine, service, net, shown } = await made("consortium");
      service.store.consortia.patch(engine.kept!.id, { description } as Record<string, unknown>);
      for (let times = 0; times < 2; times++) {
        await engine.refresh();
        expect(engine.outputs.description ?? "").toBe("");
      }
      expect(await engine.up(bases.consortium(net))).toEqual({ then: "updated" });
      expect(await shown()).toMatchObject({ description: "old" });
      await engine.refresh();
      expect(await engine.up(bases.consortium(net))).toEqual({ then: "same" });
    });

    test("what a service never lists was not removed, and neither was what nobody can read", async () => {
      const { engine, net } = await world("consortium");
      const theirs: { description?: unknown } = {};
      const answered = (key: string, value: unknown): unknown => (key === "description" ? theirs.description : value);
      rewriting({
        answer: (text, { method }) => (method === "GET" ? JSON.stringify(JSON.parse(text, answered)) : text),
      });
      expect(await engine.up(bases.consortium(net))).toEqual({ then: "created" });
      await engine.refresh();
      expect(await engine.up(bases.consortium(net))).toEqual({ then: "same" });
      theirs.description = { en: "old" };
      await engine.refresh();
      expect(engine.outputs.description).toBe("old");
      expect(await engine.up(bases.consortium(net))).toEqual({ then: "same" });
    });

    test("what a service never lists was not removed after another change, either", async () => {
      const { engine, net } = await world("node");
      rewriting({ answer: (text, { method }) => (method === "GET" ? text.replace(/"kms_id":"k",?/, "") : text) });
      const args = (opsmetricId: string) => ({ ...bases.node(net), kmsId: "k", opsmetricId });
      expect(await engine.up(args("1"))).toEqual({ then: "created" });
      for (const other of ["2", "3"]) {
        expect(await engine.up(args(other))).toEqual({ then: "updated" });
        newProcess();
        await engine.refresh();
        expect(await engine.up(args(other))).toEqual({ then: "same" });
      }
    });
  });

  test.each(collected)(
    "%s: a refresh of an untouched object lists it, reads what the list lacks, and changes nothing",
    async (kind) => {
      const { engine, net, calls } = await made(kind);
      const { outputs, inputs } = engine.kept!;
      await engine.refresh();
      const status = kind === "node" ? [`GET ${routeOf(kind)}/:nodeId/status`] : [];
      expect(calls()).toEqual([`GET ${routeOf(kind)}`, ...status]);
      expect(engine.outputs).toEqual(outputs);
      expect(engine.kept!.inputs).toMatchObject(inputs);
      expect(await engine.up(bases[kind](net))).toEqual({ then: "same" });
      expect(calls()).toEqual([]);
    },
  );

  test.each([
    ["environment", "upgrade"],
    ["node", "initializing"],
  ] as const)("%s: a refresh after the service itself moved it to %s finds no change", async (kind, state) => {
    const { engine, service, net } = await made(kind);
    storeOf(service, kind).setState(engine.kept!.id, state);
    await engine.refresh();
    expect(engine.outputs).toMatchObject({ state });
    expect(await engine.up(bases[kind](net))).toEqual({ then: "same" });
  });

  describe("deleted by somebody", () => {
    test.each(["membership", "environment", "node", "appCred"] as const)("%s: gone with its parent", async (kind) => {
      const { engine, service, net } = await made(kind);
      if (kind === "node" || kind === "appCred") service.store.environments.remove(net.environmentId);
      else service.store.consortia.remove(net.consortiumId);
      expect(await engine.refresh()).toBe("gone");
    });

    test("an environment that somebody deletes is gone before the service has removed it", async () => {
      const { engine, service, net } = await made("environment");
      service.setTiming({ deleting: 1_000_000 });
      await send(service, "DELETE", `/consortia/${net.consortiumId}/environments/${engine.kept!.id}`);
      expect(await engine.refresh()).toBe("gone");
    });

    test.each(["consortium", "node", "appCred"] as const)(
      "%s: destroy of a missing object succeeds, with reads alone",
      async (kind) => {
        const { engine, service, writes } = await made(kind);
        storeOf(service, kind).remove(engine.kept!.id);
        await engine.destroy();
        expect(writes()).toEqual([expect.stringMatching(/^DELETE /)]);
      },
    );
  });
});
