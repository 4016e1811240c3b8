import { canaryKey, type World, world } from "../support/world";

const program = `
  const { Consortium, Environment, Membership, Node } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  const membership = new Membership("m", { consortium });
  const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft" });
  for (const name of ["n1", "n2", "n3", "n4"]) new Node(name, { environment, membership });
`;

let w: World;
beforeAll(async () => {
  w = await world(program, { inline: true, timing: { nodeStart: 15_000 } });
});
afterAll(() => w.close());

test("15 s of waiting for four nodes: one line, and the same under Diagnostics", async () => {
  const { code, text } = await w.stack.up();
  expect(code).toBe(0);
  const lines = text.split("\n").filter((line) => line.includes("so far"));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThanOrEqual(2);
  expect(lines[0]).toMatch(/node "n\d", node "n\d", node "n\d", node "n\d": "initializing", 1\d s so far/);
});

test("content that nobody deletes ends a destroy soon, and its first error names it", async () => {
  const [consortium] = (await w.network()).consortia;
  const made = await fetch(`${w.service.baseUrl}/consortia/${String(consortium!._id)}/memberships`, {
    method: "POST",
    headers: { authorization: `Bearer ${canaryKey}`, "content-type": "application/json" },
    body: JSON.stringify({ org_name: "by hand" }),
  });
  expect(made.ok).toBe(true);
  const began = performance.now();
  const { code, text } = await w.stack.destroy();
  expect(code).not.toBe(0);
  expect(performance.now() - began).toBeLessThan(60_000);
  expect(/^.*\berror: .*$/m.exec(text)?.[0]).toMatch(
    /consortium "c" \(\w+\) could not be deleted: .*HTTP 409: .*1 membership.* delete that first/,
  );
  expect(text.split("\n").filter((line) => line.includes("kept by the service")).length).toBeLessThanOrEqual(2);
});
