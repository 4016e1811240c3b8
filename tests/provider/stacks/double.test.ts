import { AppCred, Consortium, Environment, Membership, Node } from "../../../sdk";
import { isSecret, revealed } from "../../support/double/wire";
import { send } from "../../support/network";
import { onBothAdapters } from "../../support/stacks";

/* Whole stacks on both adapters, by the double of the engine. tests/e2e/life/engine.test.ts compares it with the real one. */

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

const made = [
  "create AppCred a",
  "create Consortium c",
  "create Environment e",
  "create Membership m",
  "create Node n",
];

onBothAdapters((make) => {
  test("a stack lives: preview, up, nothing to do, a change, a deletion, a replacement, refresh, destroy", async () => {
    const { service, calls, stack } = await make();
    const previewed = await stack.preview(tree());
    // What a preview asks: whether the key is valid.
    expect([previewed.errors, previewed.changes.sort(), calls(), stack.state]).toEqual([
      [],
      made,
      ["GET /consortia"],
      [],
    ]);

    const up = await stack.up(tree());
    expect([up.errors, up.changes[0], up.changes.sort()]).toEqual([[], "create Consortium c", made]);
    expect([...stack.resources.values()].map(({ id }) => id)).toContain(service.store.nodes.list()[0]!.id);
    expect(isSecret(stack.outputs.password)).toBe(true);
    expect(isSecret(stack.of("a").outputs.password)).toBe(true);
    expect(revealed(stack.outputs)).toEqual({
      environmentId: stack.of("e").id,
      password: expect.any(String) as string,
    });

    calls();
    const nothing = await stack.up(tree());
    expect([nothing.errors, nothing.changes, calls()]).toEqual([[], [], []]);

    const changed = { description: "second" };
    expect((await stack.up(tree(changed))).changes).toEqual(["update Consortium c"]);
    expect((await stack.up(tree({ ...changed, without: "a" }))).changes).toEqual(["delete AppCred a"]);
    expect(service.store.credentials.list()).toEqual([]);

    const { id } = stack.of("e");
    const replaced = await stack.up(tree({ ...changed, consensusType: "ibft", without: "a" }));
    expect(replaced.changes).toEqual([
      "delete Node n",
      "delete Environment e",
      "create Environment e",
      "create Node n",
    ]);
    expect(stack.of("e").id).not.toBe(id);

    expect(await stack.refresh()).toMatchObject({ errors: [] });
    const { errors, changes } = await stack.destroy();
    expect([errors, changes.at(0), changes.at(-1)]).toEqual([[], "delete Node n", "delete Consortium c"]);
    expect([stack.state, service.store.nodes.list()]).toEqual([[], []]);
  });

  test("what is gone leaves the state at a refresh; --replace, --target and retainOnDelete do as they say", async () => {
    const { service, stack } = await make(tree({ retain: true }));
    const [node] = service.store.nodes.list();
    const without = tree({ description: "second", retain: true, without: "a" });
    expect((await stack.up(without, { targets: ["a"] })).changes).toEqual(["delete AppCred a"]);
    expect(stack.of("c").outputs.description).toBe("first");
    const all = tree({ retain: true });
    expect((await stack.up(all, { targets: ["a"] })).changes).toEqual(["create AppCred a"]);
    expect((await stack.up(all, { replace: ["a"] })).changes).toEqual(["create AppCred a", "delete AppCred a"]);
    expect((await stack.up(tree({ without: "n" }))).changes).toEqual(["delete Node n"]);
    expect(service.store.nodes.list().map(({ id }) => id)).toEqual([node!.id]);

    const { consortiumId, environmentId } = stack.of("a").inputs as Record<string, string>;
    const path = `/consortia/${consortiumId}/environments/${environmentId}/appcreds/${stack.of("a").id}`;
    await send(service, "DELETE", path);
    expect(await stack.refresh()).toMatchObject({ errors: [] });
    expect([...stack.resources.keys()].sort()).toEqual(["c", "e", "m"]);
  });
});
