import { AppCred, Environment, Node, Service } from "../../../sdk";
import { newProcess } from "../../support/service";
import { ledger, type Made, onOneAdapter } from "../../support/stacks";
import { routeOf } from "../../support/bases";

/* A replaced ledger: the new one is ready before the old one goes. In the order of the real engine: e2e/life/engine. */

interface Shape {
  args?: object;
  /** Of the second node. */
  size?: string;
  /** Environments besides. */
  beside?: number;
}

const program = ({ args = { consensusType: "raft" }, size, beside = 0 }: Shape = {}) =>
  ledger(({ consortium, environment, membership }) => {
    const within = { environment, membership };
    new Node("n1", within);
    new Node("n2", { ...within, ...(size && { size }) });
    new AppCred("a", within);
    new Service("s", { ...within, service: "ipfs" });
    for (let at = 0; at < beside; at++)
      new Environment(`other${at}`, { consortium, provider: "geth", consensusType: "poa" });
  }, args);

const replacing = { args: { consensusType: "ibft" } };

onOneAdapter((make) => {
  let world: Made;
  let old: string[];
  const everything = (): string[] => {
    const { environments, nodes, credentials, services } = world.service.store;
    return [environments, nodes, credentials, services].flatMap((kind) => kind.list().map(({ id }) => id));
  };
  const names = (): unknown[] => world.service.store.environments.list().map(({ fields }) => fields.name);
  const made = async (shape?: Shape): Promise<Made> => {
    world = await make(program(shape));
    old = everything();
    return world;
  };
  const refuse = (status: number, errorMessage: string, route = routeOf("environment"), times = Infinity) =>
    world.service.faults.add({ kind: "status", status, errorMessage, method: "POST", route, times });
  /** The order of the calls for environments and nodes. */
  const order = (): string[] =>
    world.writes().filter((call) => /environments(\/:environmentId(\/nodes.*)?)?$/.test(call));

  test("the new one comes first, with everything in it, and then the old one goes, twice", async () => {
    const { stack } = await made();
    for (const shape of [replacing, {}]) {
      const before = everything();
      expect(await stack.up(program(shape))).toMatchObject({ errors: [] });
      const calls = order();
      expect(calls.findLastIndex((call) => call.startsWith("POST"))).toBeLessThan(
        calls.findIndex((call) => call.startsWith("DELETE")),
      );
      expect(everything().filter((id) => before.includes(id))).toEqual([]);
      expect([everything().length, names()]).toEqual([before.length, ["e"]]);
      newProcess();
      expect((await stack.up(program(shape), { refresh: true })).changes).toEqual([]);
    }
  });

  test.each<[string, number, string, RegExp]>([
    ["refused", 400, "consensus_type is not supported", /not supported/],
    ["refused for its name, even when that is free", 409, "already exists", /deleteBeforeReplace: true/],
    [
      "refused at a limit",
      402,
      "environment limit (3) reached",
      /deleteBeforeReplace: true.*It replaces \w+, which stays as it was/,
    ],
  ])("%s: everything is as it was, twice, and then goes on", async (_, status, words, said) => {
    const { stack } = await made();
    const fault = refuse(status, words);
    for (const again of [1, 2]) {
      expect([again, (await stack.up(program(replacing))).failure]).toEqual([again, expect.stringMatching(said)]);
      expect([everything(), names()]).toEqual([old, ["e"]]);
      expect((await stack.up(program(), { refresh: true })).changes).toEqual([]);
    }
    fault.remove();
    expect(await stack.up(program(replacing))).toMatchObject({ errors: [] });
    expect(everything().filter((id) => old.includes(id))).toEqual([]);
  });

  test("an answer with the old one's id is no new one: nothing is deleted", async () => {
    const { stack, service } = await made();
    const [environment] = service.store.environments.list();
    service.faults.add({
      kind: "status",
      status: 200,
      body: { _id: environment!.id, ...environment!.fields },
      method: "POST",
      route: routeOf("environment"),
      times: Infinity,
    });
    expect((await stack.up(program(replacing))).failure).toMatch(
      /answered the creation with \w+, which was there before/,
    );
    expect(everything()).toEqual(old);
  });
});
