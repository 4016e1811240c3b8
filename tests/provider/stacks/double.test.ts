import { AppCred, Consortium, Environment, Membership, Node } from "../../../sdk";
import { isSecret, revealed } from "../../support/double/wire";
import { send } from "../../support/network";
import { onBothAdapters } from "../../support/stacks";

/* What the double of the engine has beyond the story that tests/e2e/life/engine.test.ts tells with it and with the real one. */

interface Options {
  description?: string;
  without?: string;
  retain?: boolean;
}

const tree =
  ({ description = "first", without = "", retain = false }: Options = {}) =>
  (): object => {
    const consortium = new Consortium("c", { description });
    const membership = new Membership("m", { consortium });
    const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft" });
    if (without !== "n") new Node("n", { environment, membership }, { retainOnDelete: retain });
    const cred = without === "a" ? undefined : new AppCred("a", { environment, membership });
    return { environmentId: environment.id, password: cred?.password };
  };

onBothAdapters((make) => {
  test("a password is a secret, as an output of the program and of the resource", async () => {
    const { stack } = await make(tree());
    expect([stack.outputs.password, stack.of("a").outputs.password].map(isSecret)).toEqual([true, true]);
    expect(revealed(stack.outputs)).toEqual({
      environmentId: stack.of("e").id,
      password: expect.any(String) as string,
    });
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

  test("a refresh makes one list call for each parent, whatever is in it", async () => {
    const { stack, calls } = await make(() => {
      const consortium = new Consortium("c", {});
      const membership = new Membership("m", { consortium });
      for (const e of ["one", "two"]) {
        const environment = new Environment(e, { consortium, provider: "geth", consensusType: "poa" });
        for (const n of [1, 2, 3]) new Node(`${e}-${n}`, { environment, membership });
      }
      return {};
    });
    calls();
    expect(await stack.refresh()).toMatchObject({ errors: [] });
    const own = "GET /consortia/:consortiumId";
    const nodes = `${own}/environments/:environmentId/nodes`;
    const parents = ["GET /consortia", `${own}/environments`, nodes, nodes, `${own}/memberships`];
    expect(calls().sort()).toEqual(parents);
  });
});
