import { AppCred, Consortium, Environment, Membership, Node } from "../../../sdk";
import { send } from "../../support/network";
import { start } from "../../support/service";
import { type Run, Stack } from "../../support/double/stack";
import { isSecret, revealed, secret } from "../../support/double/wire";

/* Whole stacks on both adapters, by the double of the engine. tests/e2e/stories compares it with the real one. */

interface Options {
  consensusType?: "raft" | "ibft";
  description?: string;
  without?: string;
  retain?: boolean;
}

const tree =
  ({ consensusType = "raft", description = "first", without = "", retain = false }: Options = {}) =>
  (): object => {
    const consortium = new Consortium("c", { description });
    const membership = new Membership("m", { consortium });
    const environment = new Environment("e", { consortium, provider: "quorum", consensusType });
    if (without !== "n") new Node("n", { environment, membership }, { retainOnDelete: retain });
    const cred = without === "a" ? undefined : new AppCred("a", { environment, membership });
    return { environmentId: environment.id, password: cred?.password };
  };

const changes = ({ steps }: Run): string[] => steps.filter((step) => !/^(same|refresh) /.test(step));
const made = [
  "create AppCred a",
  "create Consortium c",
  "create Environment e",
  "create Membership m",
  "create Node n",
];

/** What a preview asks: whether the key is valid. */
const keyAsked = ["GET /consortia"];

describe.each(["dynamic", "plugin"] as const)("%s", (adapter) => {
  test("a stack lives: preview, up, nothing to do, a change, a deletion, a replacement, refresh, destroy", async () => {
    const { service, calls } = await start();
    const stack = new Stack(adapter);
    const previewed = await stack.preview(tree());
    expect([previewed.errors, changes(previewed).sort(), calls(), stack.state]).toEqual([[], made, keyAsked, []]);

    const up = await stack.up(tree());
    expect([up.errors, changes(up).sort()]).toEqual([[], made]);
    expect(changes(up)[0]).toBe("create Consortium c");
    expect([...stack.resources.values()].map(({ id }) => id)).toContain(service.store.nodes.list()[0]!.id);
    expect(isSecret(stack.outputs.password)).toBe(true);
    expect(isSecret(stack.of("a").outputs.password)).toBe(true);
    expect(revealed(stack.outputs)).toEqual({
      environmentId: stack.of("e").id,
      password: expect.any(String) as string,
    });

    calls();
    const nothing = await stack.up(tree());
    expect([nothing.errors, changes(nothing), calls()]).toEqual([[], [], []]);

    expect(changes(await stack.up(tree({ description: "second" })))).toEqual(["update Consortium c"]);
    expect(changes(await stack.up(tree({ description: "second", without: "a" })))).toEqual(["delete AppCred a"]);
    expect(service.store.credentials.list()).toEqual([]);

    const { id } = stack.of("e");
    const replaced = changes(await stack.up(tree({ description: "second", consensusType: "ibft", without: "a" })));
    expect(replaced).toEqual(["delete Node n", "delete Environment e", "create Environment e", "create Node n"]);
    expect(stack.of("e").id).not.toBe(id);

    expect(await stack.refresh()).toMatchObject({ errors: [] });
    const destroyed = await stack.destroy();
    expect([destroyed.errors, changes(destroyed).at(0), changes(destroyed).at(-1)]).toEqual([
      [],
      "delete Node n",
      "delete Consortium c",
    ]);
    expect([stack.state, service.store.nodes.list()]).toEqual([[], []]);
  });

  test("a failure keeps what was made, and the next run goes on", async () => {
    const { service } = await start();
    const stack = new Stack(adapter);
    const fault = service.faults.add({
      kind: "status",
      status: 400,
      errorMessage: "no",
      method: "POST",
      route: "/consortia/:consortiumId/environments",
    });
    const { ok, errors } = await stack.up(tree());
    expect([ok, errors.map(({ name }) => name)]).toEqual([false, ["e"]]);
    expect(errors[0]!.message).toMatch(/HTTP 400: no/);
    expect([...stack.resources.keys()].sort()).toEqual(["c", "m"]);
    fault.remove();
    expect(changes(await stack.up(tree())).sort()).toEqual([
      "create AppCred a",
      "create Environment e",
      "create Node n",
    ]);
  });

  test("what is gone leaves the state at a refresh; --replace, --target and retainOnDelete do as they say", async () => {
    const { service } = await start();
    const stack = new Stack(adapter);
    await stack.up(tree({ retain: true }));
    const [node] = service.store.nodes.list();
    expect(
      changes(await stack.up(tree({ description: "second", retain: true, without: "a" }), { targets: ["a"] })),
    ).toEqual(["delete AppCred a"]);
    expect(stack.of("c").outputs.description).toBe("first");
    expect(changes(await stack.up(tree({ retain: true }), { targets: ["a"] }))).toEqual(["create AppCred a"]);
    expect(changes(await stack.up(tree({ retain: true }), { replace: ["a"] }))).toEqual([
      "create AppCred a",
      "delete AppCred a",
    ]);
    expect(changes(await stack.up(tree({ without: "n" })))).toEqual(["delete Node n"]);
    expect(service.store.nodes.list().map(({ id }) => id)).toEqual([node!.id]);

    const { consortiumId, environmentId } = stack.of("a").inputs as Record<string, string>;
    await send(
      service,
      "DELETE",
      `/consortia/${consortiumId}/environments/${environmentId}/appcreds/${stack.of("a").id}`,
    );
    expect(await stack.refresh()).toMatchObject({ errors: [] });
    expect([...stack.resources.keys()].sort()).toEqual(["c", "e", "m"]);
  });

  test("--replace does not ask the provider: of a ledger it says what to do instead, and nothing is made", async () => {
    const { service } = await start();
    const stack = new Stack(adapter);
    await stack.up(tree());
    const before = service.store.environments.list();
    const { errors } = await stack.up(tree(), { replace: ["e"] });
    expect(errors[0]!.message).toMatch(
      /environment "e": the name is already taken by \w+.*`--replace`, see "already taken"/s,
    );
    expect(service.store.environments.list()).toEqual(before);
  });

  test("settings come from the stack's configuration; secrets are marked, and not shown", async () => {
    const { service } = await start();
    delete process.env.CONSORTIUM_API_KEY;
    const without = await new Stack(adapter).up(tree());
    expect(without.errors[0]!.message).toMatch(/no API key/i);
    const stack = new Stack(adapter, { config: { "consortium:apiKey": secret(service.apiKey) } });
    expect(await stack.up(tree())).toMatchObject({ errors: [] });
    expect(JSON.stringify(stack.state.map(({ outputs }) => outputs))).not.toContain(`"${service.apiKey}",`);
    expect(await stack.destroy()).toMatchObject({ errors: [] });
  });
});
