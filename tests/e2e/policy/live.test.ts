import { send } from "../../support/network";
import { done, failed, type Result } from "../support/stack";
import { tetherId, type World, world } from "../support/world";

const pack = ["--policy-pack", "node_modules/pulumi-consortium/policy-pack", "--policy-pack-config"];

/** A network with a full environment; `change` is the difference of a later version of the program. */
const program = (
  nodes: string[],
  change: { more?: string; tether?: string; options?: string; protect?: boolean } = {},
) => `
  const { AppCred, Consortium, Environment, Membership, Node, TetherService } = require("pulumi-consortium");
  const consortium = new Consortium("trade");
  const memberships = ["acme", "bolt"].map((name) => new Membership(name, { consortium }));
  const environment = new Environment("ledger", { consortium, provider: "quorum", consensusType: "raft" }, { protect: ${change.protect ?? false} });
  const nodes = ${JSON.stringify(nodes)}.map((name, i) => new Node(name, { environment, membership: memberships[i % 2] }));
  for (const membership of memberships) new AppCred("app-" + memberships.indexOf(membership), { environment, membership });
  new TetherService("pin", { tetherId: "${tetherId}", network: "${change.tether ?? "rinkeby"}", intervalHours: 1 },
    { dependsOn: nodes, ${change.options ?? ""} });
  ${change.more ?? ""}
`;

const live = { live: true };
const everywhere = {
  "consortia-per-organization": { live: true, max: 9, maxOf: { local: 2 } }, // the name of the organization
  "environments-per-consortium": live,
  "nodes-per-environment": live,
};
const later = program(["a", "b", "c", "e"], {
  tether: "mainnet",
  options: 'ignoreChanges: ["network"]',
  protect: true,
});

/** One story: each test goes on where the one before it ended. */
describe("an existing network, and the next version of its program", () => {
  let w: World;
  const preview = (text: string, config: object): Promise<Result> => {
    w.stack.program(text);
    w.stack.write("rules.json", JSON.stringify(config));
    return w.stack.preview({}, ...pack, "rules.json");
  };
  beforeAll(async () => {
    w = await world(program(["a", "b", "c", "d"]), { inline: true });
    w.stack.write("rules.json", JSON.stringify(everywhere));
    await done(w.stack.up({}, ...pack, "rules.json"));
  });

  test("deleted resources do not count, ignored changes do not happen, and protected resources are protected", async () => {
    const { code, text } = await preview(later, { "protect-ledgers": { stacks: ["test"] } });
    expect(code).toBe(0);
    // The newest Pulumi leaves the module out where a resource has children.
    expect(text.match(/\[(advisory|mandatory)\] .*/g)).toEqual([
      expect.stringMatching(
        /^\[advisory\] {2}protect-ledgers {2}\(pulumi-nodejs:dynamic(\/consortium)?:Consortium: trade\)$/,
      ),
    ]);
    expect(text).toContain("1 to delete");
  });

  test("live: managed objects are not counted twice, objects of others count, and so do objects that are deleted last", async () => {
    await send(w.service, "POST", "/consortia", { name: "others" });
    const same = program(["a", "b", "c", "d"]);
    expect(await preview(same, everywhere)).toMatchObject({ code: 0 });
    const text = await failed(preview(`${later}; new Consortium("new");`, everywhere));
    expect(text).toContain(
      'would have 3 consortia (in this stack "new" and "trade", and outside of it "others"), but at most 2 are allowed.',
    );
    expect(text).toContain(
      'Environment "ledger" would have 5 nodes (in this stack "a", "b", "c" and "e", and outside of it "d"), but at most ' +
        "4 are allowed. Remove some, or put them into another environment. Resources that this run deletes also count, because " +
        "Pulumi deletes last.",
    );
    expect(text).not.toContain("environments-per-consortium");
  });
});
