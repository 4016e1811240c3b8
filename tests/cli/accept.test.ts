import { send } from "../support/network";
import { start } from "../support/service";
import { consortium } from "./command";

/* What people do by hand, and on the embedded service with a command: accept an invitation, fund a tether. */

async function world() {
  const { service } = await start({ organizations: [{ name: "north" }, { name: "south" }] });
  const { _id } = await send(service, "POST", "/consortia", { name: "trade" });
  const invited = { org_name: "south", email: "ops@south.example" };
  const invitation = await send(service, "POST", `/consortia/${_id}/invitations`, invited);
  const run = (organization: number, ...args: string[]) => {
    const CONSORTIUM_API_KEY = service.organizations[organization]!.apiKey;
    return consortium(["accept", ...args], { CONSORTIUM_API_KEY, CONSORTIUM_BASE_URL: service.baseUrl });
  };
  return { service, consortium: _id, invitation: invitation._id, run };
}

test("it is listed for the invited organization, and accepted once", async () => {
  const { service, consortium, invitation, run } = await world();
  const none = { code: 0, stdout: "No invitation to this organization is open.\n", stderr: "" };
  expect(await run(0)).toEqual(none);
  expect(await run(1)).toEqual({
    code: 0,
    stdout: `${invitation}  to the consortium trade (${consortium}) of north, sent to ops@south.example\n`,
    stderr: "",
  });
  expect((await run(0, invitation)).stderr).toContain(`no open invitation ${invitation} to this organization`);
  expect(service.store.memberships.list()).toEqual([]);
  expect(await run(1, invitation)).toEqual({
    code: 0,
    stdout: "This organization is now a member of the consortium trade of north.\n",
    stderr: "",
  });
  expect(service.store.memberships.list()).toMatchObject([{ fields: { org_name: "south" } }]);
  expect((await run(1, invitation)).code).toBe(1);
  expect(await run(1)).toEqual(none);
});

test.each([
  ["accept", [], "accept in its web console"],
  ["fund", ["tether0001"], "has no faucet: only `consortium serve` has one"],
])("%s: a service that has no such way says where else", async (command, args, why) => {
  const { service, run } = await world();
  const CONSORTIUM_BASE_URL = `${service.url}/elsewhere/api/v1`;
  const env = { CONSORTIUM_API_KEY: service.apiKey, CONSORTIUM_BASE_URL };
  const { code, stderr } = await consortium([command, ...args], env);
  expect([code, stderr]).toEqual([1, expect.stringContaining(why)]);
  expect((await run(0)).code).toBe(0);
});

test("fund: a tether that the service does not have is named", async () => {
  const { service } = await world();
  const env = { CONSORTIUM_API_KEY: service.apiKey, CONSORTIUM_BASE_URL: service.baseUrl };
  const { code, stderr } = await consortium(["fund", "tether0001"], env);
  expect([code, stderr]).toEqual([1, expect.stringContaining("tether0001")]);
  expect(stderr).not.toContain("has no faucet");
});
