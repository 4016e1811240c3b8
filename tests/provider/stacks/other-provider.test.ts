import { type ProviderResource } from "@pulumi/pulumi";
import { Consortium, Membership, Network, Provider, TetherService } from "../../../sdk";
import { type Run, type Stack } from "../../support/double/stack";
import { type Made, onBothAdapters } from "../../support/stacks";
import { ether, tetherId } from "../../support/tethered";

/* A resource that the program gives another provider: the object stays in its organization. */

let started: Made;
let stack: Stack;
let keys: Record<"acme" | "globex" | "empty", string>;

const changesOf = ({ changes }: Run): string[] =>
  changes.filter((step) => !/ (consortium|pulumi-nodejs) /.test(step)).sort();
const writes = (): string[] => started.writes();
const organization = (name: string): string => started.service.organizations.find((one) => one.name === name)!.id;

type Providers = Record<string, ProviderResource>;

/** Two members of a consortium in the provider that `of` names; "" is the default one. */
const program =
  (of: string, { beside = "", make = tree }: { beside?: string; make?: Tree } = {}) =>
  (): void => {
    const providers: Providers = Object.fromEntries(
      Object.entries(keys).map(([name, apiKey]) => [name, new Provider(name, { apiKey })]),
    );
    make(providers[of]);
    if (beside) new Consortium("beside", {}, { provider: providers[beside] });
  };

type Tree = (provider?: ProviderResource) => void;
const tree: Tree = (provider) => {
  const consortium = new Consortium("c", {}, { provider });
  new Membership("m", { consortium }, { provider });
};
const children: Tree = (provider) => {
  const consortium = new Consortium("c", {}, { provider });
  new Membership("m", { consortium }, { parent: consortium });
};
const component: Tree = (provider) =>
  void new Network("c", { members: { m: {} } }, provider ? { providers: [provider] } : {});

onBothAdapters((make) => {
  beforeEach(async () => {
    started = await make(undefined, { tethers: [{ id: tetherId, funds: { rinkeby: ether } }] });
    ({ stack } = started);
    const made = (["acme", "globex", "empty"] as const).map((name) => [
      name,
      started.service.addOrganization(name).apiKey,
    ]);
    keys = Object.fromEntries(made) as typeof keys;
  });

  /** Names its organization. */
  const refused = (run: Run, from: string): void =>
    expect(run.failure).toContain(`was made with organization ${organization(from || "local")}`);

  test.each<[string, string, Tree]>([
    ["acme", "globex", tree],
    ["acme", "globex", children],
    ["acme", "globex", component],
    ["acme", "", tree],
    ["", "empty", tree],
  ])("from %j to %j: preview and up fail, and nothing is touched", async (from, to, make) => {
    expect(await stack.up(program(from, { beside: "globex", make }))).toMatchObject({ errors: [] });
    const before = stack.state;
    started.calls();
    const moved = program(to, { make });
    // The program no longer has anything that would tell the organization of the other provider's key.
    stack.state = stack.state.filter(({ name }) => name !== "beside");
    refused(await stack.preview(moved), from);
    refused(await stack.up(moved), from);
    expect(writes()).toEqual([]);
    stack.state = before;
    expect(changesOf(await stack.up(program(from, { beside: "globex", make })))).toEqual([]);
  });

  test("a tether service", async () => {
    const tether: Tree = (provider) =>
      void new TetherService("t", { tetherId, network: "rinkeby", intervalHours: 1, active: false }, { provider });
    expect(await stack.up(program("", { make: tether }))).toMatchObject({ errors: [] });
    started.calls();
    refused(await stack.up(program("empty", { make: tether })), "");
    expect(writes()).toEqual([]);
  });

  test("to a provider of the same organization, with a key that the stack has not seen, changes nothing", async () => {
    await stack.up(program("acme"));
    started.calls();
    keys.globex = started.service.rotateKey("acme");
    for (const run of [await stack.preview(program("globex")), await stack.up(program("globex"))])
      expect([run.errors, changesOf(run), writes()]).toEqual([[], [], []]);
  });
});
