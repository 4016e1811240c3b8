import { Consortium, Environment, Membership, Node } from "../../../sdk";
import { onBothAdapters } from "../../support/stacks";

onBothAdapters((make) => {
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
