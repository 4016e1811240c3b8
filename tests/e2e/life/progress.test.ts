import { send } from "../../support/network";
import { done, failed } from "../support/stack";
import { type World, world } from "../support/world";
import { patiently } from "../../support/jest/patience";

const program = `
  const { Consortium, Environment, Membership, Node } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  const membership = new Membership("m", { consortium });
  const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft" });
  for (const name of ["n1", "n2", "n3", "n4"]) new Node(name, { environment, membership });
`;

let w: World;
beforeEach(async () => {
  w = await world(program, { inline: true, plugin: true, timing: { nodeStart: 15_000 } });
});

test("on the plugin, 15 s of waiting show in the row of the node", async () => {
  const { text } = await done(w.stack.up());
  expect(text).toMatch(/ consortium:index:Node n\d creating .*"initializing", \d+ s so far/);
});

test("on the dynamic provider they are one line for four nodes, also under Diagnostics; contents that nobody deletes soon end a destroy, and its first error names them", async () => {
  const { text: waiting } = await done(w.stack.up({ CONSORTIUM_PLUGIN: "false" }));
  const lines = waiting.split("\n").filter((line) => line.includes("so far"));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThanOrEqual(2);
  expect(lines[0]).toMatch(/node "n\d", node "n\d", node "n\d", node "n\d": "initializing", \d+ s so far/);

  const [consortium] = (await w.network()).consortia;
  await send(w.service, "POST", `/consortia/${String(consortium!._id)}/memberships`, { org_name: "by hand" });
  const began = performance.now();
  const text = await failed(w.stack.destroy());
  expect(performance.now() - began).toBeLessThan(patiently(60_000));
  expect(/^.*\berror: .*$/m.exec(text)?.[0]).toMatch(
    /consortium "c" \(\w+\): delete in the console what is in it, .*It could not be deleted: .*HTTP 409: .*1 membership/,
  );
  expect(text.split("\n").filter((line) => line.includes("kept by the service")).length).toBeLessThanOrEqual(2);
});
