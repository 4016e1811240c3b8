import { wholeTree, type World, world, writesOf } from "../support/world";

/* A stack of organization one, and a key of organization two: nothing is lost, made twice, or touched. */

let w: World;
let keys: { empty: string; owning: string };
let state: string[];
let own: string;

beforeAll(async () => {
  w = await world(wholeTree, { inline: true, plugin: true });
  keys = { empty: w.service.addOrganization("empty").apiKey, owning: w.service.addOrganization("owning").apiKey };
  const answer = await fetch(`${w.service.baseUrl}/consortia`, {
    method: "POST",
    headers: { authorization: `Bearer ${keys.owning}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "theirs" }),
  });
  expect(answer.status).toBe(201);
  expect(await w.stack.up()).toMatchObject({ code: 0 });
  state = await w.stack.ids();
  own = w.service.organizations.find(({ name }) => name === "local")!.id;
  w.service.clearCalls();
});

/** Nothing of a run with a key of another organization may have an effect. */
async function refused(which: keyof typeof keys, args: string[]): Promise<void> {
  const { code, text } = await w.stack.run(args, { CONSORTIUM_API_KEY: keys[which] });
  expect({ code, text }).toMatchObject({ code: 255 });
  expect(text).toContain(
    `was made with organization ${own}, but the API key from environment variable CONSORTIUM_API_KEY`,
  );
  expect(text).toContain("belongs to organization"); // the service tells, also of one that owns nothing
  expect(text).toContain("Unset CONSORTIUM_API_KEY");
  expect(text).not.toMatch(/[12]\d* (created|deleted)/);
  expect(await w.stack.ids()).toEqual(state);
  expect(writesOf(w.service)).toEqual([]);
}

/* Every verb with each of the keys: tests/provider/core/organization.test.ts, and `npm run reliability`. */
describe("the key of another organization is in the shell", () => {
  test.each<[keyof typeof keys, string[]]>([
    ["empty", ["up", "--yes", "--refresh"]],
    ["owning", ["refresh", "--yes", "--skip-preview"]],
    ["empty", ["destroy", "--yes", "--skip-preview"]],
    ["owning", ["destroy", "--yes", "--refresh", "--skip-preview"]],
  ])("which is %s: %j fails, says whose is what, and changes nothing", refused);

  test("a change, a replacement and something new fail alike", async () => {
    const changed = wholeTree
      .replace('description: "first"', 'description: "second"')
      .replace('"raft"', '"ibft"')
      .concat('new Consortium("another");');
    w.stack.program(changed);
    await refused("owning", ["up", "--yes", "--skip-preview", "--continue-on-error"]);
    w.stack.program(wholeTree);
  });
});

test("with its own key all of it is there, unchanged, and goes", async () => {
  expect(await w.stack.up({}, "--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await w.stack.destroy()).toMatchObject({ code: 0 });
  expect(await w.network()).toMatchObject({ consortia: [], environments: [], nodes: [], appcreds: [] });
});

test("an organization that is required from the start keeps an empty stack empty", async () => {
  w.service.clearCalls();
  const { code, text } = await w.stack.up({ CONSORTIUM_API_KEY: keys.owning, CONSORTIUM_ORGANIZATION: own });
  expect({ code, text }).toMatchObject({ code: 255 });
  expect(text).toContain(`The organization must be ${own} (environment variable CONSORTIUM_ORGANIZATION)`);
  expect(await w.stack.ids()).toEqual([]);
  expect(writesOf(w.service)).toEqual([]);
});
