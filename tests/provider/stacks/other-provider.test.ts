import { type ProviderResource } from "@pulumi/pulumi";
import { Consortium, Membership, Network, Provider, TetherService } from "../../../sdk";
import { type Run, type Stack } from "../../support/double/stack";
import { setEnvironment } from "../../support/service";
import { type Made, onBothAdapters } from "../../support/stacks";
import { ether, tetherId } from "../../support/tethered";

/* A resource that the program gives another provider: the object stays in its organization, and no message says "deleted". */

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

  /** Names its organization and its provider; never says that it may have been deleted. */
  function refused(run: Run, from: string, to: string): void {
    const called = (name: string): string => (name === "" ? "the default provider" : `the provider "${name}"`);
    expect(run.failure).toContain(`was made with organization ${organization(from || "local")}`);
    expect(run.failure).toContain(
      `In the program, ${called(from)} was replaced by ${called(to)}: give it ${called(from)} again`,
    );
    expect(run.failure).not.toContain("CONSORTIUM_CONFIRM_DELETED");
  }

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
    refused(await stack.preview(moved), from, to);
    refused(await stack.up(moved), from, to);
    expect(writes()).toEqual([]);
    stack.state = before;
    expect(changesOf(await stack.up(program(from, { beside: "globex", make })))).toEqual([]);
  });

  test("a preview without calls announces a change, and up fails", async () => {
    await stack.up(program("acme", { beside: "globex" }));
    started.calls();
    setEnvironment({ CONSORTIUM_OFFLINE_PREVIEW: "true" });
    const previewed = await stack.preview(program("globex"));
    expect([previewed.errors, started.calls()]).toEqual([[], []]);
    expect(changesOf(previewed)).toContain("update Consortium c");
    refused(await stack.up(program("globex")), "acme", "globex");
  });

  test("the preview refuses it if the settings require the other organization", async () => {
    await stack.up(program("acme"));
    setEnvironment({ CONSORTIUM_ORGANIZATION: organization("local") });
    const run = await stack.preview(program(""));
    refused(run, "acme", "");
    expect(run.failure).toContain("must be");
  });

  test("a tether service", async () => {
    const tether: Tree = (provider) =>
      void new TetherService("t", { tetherId, network: "rinkeby", intervalHours: 1, active: false }, { provider });
    expect(await stack.up(program("", { make: tether }))).toMatchObject({ errors: [] });
    started.calls();
    refused(await stack.up(program("empty", { make: tether })), "", "empty");
    expect(writes()).toEqual([]);
  });

  test("to a provider of the same organization changes nothing, and is reported once", async () => {
    await stack.up(program("acme"));
    started.calls();
    // Another key, which the stack has not seen: asked for once.
    keys.globex = started.service.rotateKey("acme");
    const moved = await stack.up(program("globex"));
    expect([moved.errors, changesOf(moved), writes()]).toEqual([
      [],
      ["update Consortium c", "update Membership m"],
      [],
    ]);
    const after = await stack.up(program("globex"));
    expect([after.errors, changesOf(after)]).toEqual([[], []]);
  });

  test("a rotated key of the same provider is not a change; neither is a state without a provider", async () => {
    await stack.up(program("acme"));
    const old = stack.state;
    keys.acme = started.service.rotateKey("acme");
    expect(changesOf(await stack.preview(program("acme")))).toEqual([]);
    stack.state = old.map((one) => {
      const known = one.outputs.__kept as Record<string, unknown> | undefined;
      if (!known) return one;
      return { ...one, outputs: { ...one.outputs, __kept: { ...known, provider: undefined } } };
    });
    expect(changesOf(await stack.preview(program("globex")))).toEqual([]);
  });
});
