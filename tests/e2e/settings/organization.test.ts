import { failed } from "../support/stack";
import { type World, wholeTree, world, writesOf } from "../support/world";

/*
 * A stack of organization one, and a key of organization two: nothing is lost, made twice, or touched. Every verb with each of the keys:
 * tests/provider/core/organization.test.ts.
 */

let w: World;
let other: string;
let own: string;

beforeAll(async () => {
  w = await world(wholeTree, { inline: true, plugin: true });
  other = w.service.addOrganization("other").apiKey;
  own = w.service.organizations.find(({ name }) => name === "local")!.id;
});

test("with another organization's key in the shell, an update, a replacement, a create and a destroy fail, and change nothing", async () => {
  expect(await w.stack.up()).toMatchObject({ code: 0 });
  const state = await w.stack.ids();
  w.service.clearCalls();
  const changed = wholeTree
    .replace('description: "first"', 'description: "second"')
    .replace('"raft"', '"ibft"')
    .concat('new Consortium("another");');
  w.stack.program(changed);
  const text = await failed(w.stack.up({ CONSORTIUM_API_KEY: other }, "--continue-on-error"));
  expect(text).toContain(
    `was made with organization ${own}, but the API key from environment variable CONSORTIUM_API_KEY`,
  );
  expect(text).toContain("belongs to organization"); // the service tells, also of one that owns nothing
  expect(text).toContain("Unset CONSORTIUM_API_KEY");
  expect(text).not.toMatch(/[12]\d* (created|deleted)/);
  expect(await failed(w.stack.destroy({ CONSORTIUM_API_KEY: other }))).toContain(`made with organization ${own}`);
  expect(await w.stack.ids()).toEqual(state);
  expect(writesOf(w.service)).toEqual([]);
});

test("with its own key, everything is unchanged, and destroy deletes it", async () => {
  w.stack.program(wholeTree);
  expect(await w.stack.up({}, "--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await w.stack.destroy()).toMatchObject({ code: 0 });
  expect(await w.network()).toMatchObject({ consortia: [], environments: [], nodes: [], appcreds: [] });
});
