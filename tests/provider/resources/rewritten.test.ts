import { Consortium, Membership } from "../../../sdk";
import { bases, collected, nameField, nameKey } from "../../support/bases";
import { failed } from "../../support/engine";
import { world } from "../../support/lifecycle";
import { newProcess } from "../../support/service";
import { onBothAdapters } from "../../support/stacks";
import { rewriting } from "../../support/virtual-time";

/* A service that writes names in its own way: that is neither a change nor another object. */

const ways: [string, (name: string) => string][] = [
  ["small letters", (name) => name.toLowerCase()],
  ["capitals", (name) => name.toUpperCase()],
  ["small letters and hyphens", (name) => name.toLowerCase().replaceAll(" ", "-")],
];

/** A body with its names in the form of such a service. */
const written =
  (write: (name: string) => string) =>
  (body: string): string =>
    body.replace(/"(name|org_name)":"([^"]*)"/g, (_, key: string, name: string) => `"${key}":"${write(name)}"`);

const inSmallLetters = written((name) => name.toLowerCase());

const isChange = (call: string): boolean => !call.startsWith("GET");

test.each(collected.map((kind, at) => [kind, ...ways[at % 3]!] as const))(
  "%s, in %s: unchanged for any process, and renamed once",
  async (kind, _way, write) => {
    const { engine, net, count, shown, calls } = await world(kind);
    rewriting({ request: written(write) });
    const named = (name: string) => ({ ...bases[kind](net), [nameKey(kind)]: name });
    expect(await engine.up(named("Acme Trade"))).toEqual({ then: "created" });
    expect(await shown()).toMatchObject({ [nameField(kind)]: write("Acme Trade") });
    expect(engine.outputs).toMatchObject({ [nameKey(kind)]: write("Acme Trade") });
    calls();
    for (const refresh of [false, true, true]) {
      newProcess();
      if (refresh) expect(await engine.refresh()).toBe("there");
      expect(await engine.up(named("Acme Trade"))).toEqual({ then: "same" });
    }
    expect(calls().filter(isChange)).toEqual([]);
    expect((await engine.up(named("Acme Goods"))).then).toBe("updated");
    newProcess();
    await engine.refresh();
    expect(await engine.up(named("Acme Goods"))).toEqual({ then: "same" });
    expect(await count()).toBe(1);
  },
);

test.each(["environment", "membership"] as const)(
  "%s: after a lost answer, the error names what is written in another way, and nothing is made twice",
  async (kind) => {
    const { engine, service, net, count } = await world(kind);
    rewriting({ request: inSmallLetters });
    service.faults.add({ kind: "resetAfter", method: "POST" });
    const named = { ...bases[kind](net), [nameKey(kind)]: "Acme Trade" };
    expect(await engine.up(named)).toEqual(
      failed(/adopt it by its id.* has the name now \(in another form\).*\[unclear-create:/),
    );
    expect(await count()).toBe(1);
  },
);

onBothAdapters((make) => {
  describe("adopt", () => {
    const network = (adopt: boolean) => (): void => {
      const consortium = new Consortium("c", { name: "Trade Net", adopt });
      new Membership("m", { consortium, orgName: "Acme Inc", adopt });
    };
    /** A stack of it on a service that writes names in lower case, and the ids of both. */
    const made = async (adopt: boolean) => {
      const world = await make();
      rewriting({ request: inSmallLetters });
      expect((await world.stack.up(network(adopt))).errors).toEqual([]);
      world.writes();
      newProcess();
      const ids = (...names: string[]): string[] => names.map((name) => world.stack.of(name).id);
      return { ...world, ids, before: ids("c", "m") };
    };

    test("an error names the similar name, and nothing is created or lost", async () => {
      const { service, stack, writes, ids, before } = await made(false);
      const [consortium] = before;
      const renamed = (adopt: true | string) => (): void => {
        const c = new Consortium("c2", { name: "Trade Net", adopt });
        new Membership("m2", { consortium: c, orgName: "Acme Inc", adopt: true });
      };
      newProcess();
      expect((await stack.up(renamed(true))).failure).toMatch(
        new RegExp(`set adopt: "${consortium}" .*no exact match, but ${consortium} is called "trade net"`),
      );
      expect([writes(), ids("c", "m")]).toEqual([[], before]);
      expect((await stack.up(renamed(consortium!))).failure).toMatch(/"Acme Inc": set adopt.*\[cannot-adopt:/);
      expect(service.store.memberships.list()).toHaveLength(1);
    });
  });
});
