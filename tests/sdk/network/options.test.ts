import { Network, type NetworkDefinition, type NetworkOptions, Provider } from "../../../sdk";
import { program, valueOf } from "../../support/program";
import { registered, settled, short, trade } from "./registered";

test("options hold for every part", async () => {
  const { all } = await registered(trade, { retainOnDelete: true, customTimeouts: { create: "5m" }, adopt: true });
  const parts = all.filter(({ type }) => type.startsWith("pulumi-nodejs:"));
  expect(parts).toHaveLength(15);
  for (const part of parts) {
    expect([part.name, part.inputs.customTimeouts, part.retainOnDelete]).toEqual([part.name, { create: 300 }, true]);
    const adopts = !/AppCred|TetherService/.test(part.type);
    const wanted = part.name.endsWith("spare") ? "n1" : true;
    expect([part.name, part.inputs.adopt]).toEqual([part.name, adopts ? wanted : undefined]);
  }
});

test("protect: of the network, of an environment for its contents, of an entry", async () => {
  const { all } = await registered(trade, { protect: true });
  expect(all.filter(({ protect }) => !protect).map(short)).toEqual([]);
  const [prod, test] = [trade.environments!.prod!, trade.environments!.test!];
  const mixed = {
    ...trade,
    environments: { prod: { ...prod, protect: true, nodes: { acme: { a: { protect: false }, b: null } } }, test },
  };
  const { all: some } = await registered(mixed);
  expect(
    some
      .filter(({ protect }) => protect)
      .map(short)
      .sort(),
  ).toEqual([
    ...["AppCred trade/prod/acme", "Environment trade/prod", "Node trade/prod/b", "TetherService trade/prod"],
  ]);
});

test.each(["provider", "providers"] as const)("%s", async (option) => {
  const { of } = await program();
  const own = new Provider("own", { apiKey: "key" });
  const network = new Network("trade", trade, option === "provider" ? { provider: own } : { providers: [own] });
  await settled(network);
  const reference = `${await valueOf(own.urn)}::${await valueOf(own.id)}`;
  const parts = [network.consortium, network.members.acme!, network.environments.prod!.tether!];
  for (const part of parts) expect((await of(part)).provider).toBe(reference);
});

test("adopt of the program precedes the definition's, and an entry's precedes both", async () => {
  const definition: NetworkDefinition = { adopt: true, members: { a: null, b: { adopt: false }, c: { adopt: "m1" } } };
  const adopted = async (opts?: NetworkOptions) => {
    const { named } = await registered(definition, opts);
    return ["a", "b", "c"].map((key) => named[`Membership trade/${key}`]!.inputs.adopt);
  };
  expect(await adopted()).toEqual([true, false, "m1"]);
  expect(await adopted({ adopt: false })).toEqual([false, false, "m1"]);
});
