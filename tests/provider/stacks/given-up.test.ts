import { Consortium, Membership, Node } from "../../../sdk";
import { newProcess } from "../../support/service";
import { ledger, type Made, onOneAdapter } from "../../support/stacks";

/* A name that one resource gives up and another one takes in the same run. */

onOneAdapter((make) => {
  const one = ledger((base) => new Node("n", base));

  test("the name of a removed resource is taken until the end of the update, and the error says what to do", async () => {
    const { stack, service } = await make(one);
    const other = ledger((base) => new Node("b", { ...base, name: "n" }));
    newProcess();
    const { failure } = await stack.up(other, { parallel: 1 });
    expect(failure).toMatch(/already taken by \w+/);
    expect((await stack.up(ledger())).errors).toEqual([]);
    expect((await stack.up(other)).errors).toEqual([]);
    expect(service.store.nodes.list()).toHaveLength(1);
  });

  describe("siblings that are renamed", () => {
    /** Members of a consortium: their names in the service, by logical name. */
    const members = (named: Record<string, string>) => (): void => {
      const consortium = new Consortium("c");
      for (const [name, orgName] of Object.entries(named)) new Membership(name, { consortium, orgName });
    };
    const pair = { m1: "harbour", m2: "roaster" };
    const swapped = { m1: "roaster", m2: "harbour" };
    const three = { m1: "harbour", m2: "roaster", m3: "grower" };

    const rename = async ({ stack, service }: Made, now: Record<string, string>): Promise<void> => {
      expect(await stack.up(members(now))).toMatchObject({ errors: [] });
      for (const [name, org_name] of Object.entries(now))
        expect(service.store.memberships.get(stack.of(name).id).fields).toMatchObject({ org_name });
    };

    test.each<[string, Record<string, string>, Record<string, string>]>([
      ["a new one takes the old name of another", { m1: "harbour" }, { m2: "harbour", m1: "roaster" }],
      ["each takes the name of the next one", three, { m1: "roaster", m2: "grower", m3: "exporter" }],
    ])("%s", async (_, old, now) => rename(await make(members(old)), now));

    test.each<[string, Record<string, string>, Record<string, string>]>([
      ["two swap them", pair, swapped],
      ["three rename in a circle", three, { m1: "roaster", m2: "grower", m3: "harbour" }],
    ])("%s, where each name may be there twice", async (_, old, now) => rename(await make(members(old)), now));

    test("if the service refuses a taken name, the error names who has it and how to use two runs, which work", async () => {
      const world = await make(members(pair));
      const taken = { kind: "status", status: 409, errorMessage: "the name is in use", times: 1000 } as const;
      const fault = world.service.faults.add({ ...taken, method: "PATCH", route: /memberships/ });
      for (const now of [swapped, { m1: "roaster", m2: "grower" }, { m1: "roaster" }])
        expect((await world.stack.up(members(now))).failure).toMatch(
          /choose another name, or use two runs.* give one of them a temporary name.* m\w+ has the name "roaster"/,
        );
      fault.remove();
      await rename(world, { ...swapped, m1: "for now" });
      await rename(world, swapped);
    });
  });
});
