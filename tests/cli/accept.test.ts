import { send } from "../support/network";
import { start } from "../support/service";
import { connection, consortium } from "./command";

/* What people do by hand, and on the embedded service with a command: accept an invitation, fund a tether. */

async function world() {
  const { service } = await start({ organizations: [{ name: "north" }, { name: "south" }] });
  const { _id } = await send(service, "POST", "/consortia", { name: "trade" });
  const invited = { org_name: "south", email: "ops@south.example" };
  const invitation = await send(service, "POST", `/consortia/${_id}/invitations`, invited);
  const { baseUrl, organizations } = service;
  const run = (organization: number, ...args: string[]) =>
    consortium(["accept", ...args], connection({ baseUrl, apiKey: organizations[organization]!.apiKey }));
  return { service, consortium: _id, invitation: invitation._id, run };
}

test("it is listed for the invited organization, and accepted once", async () => {
  const { service, consortium, invitation, run } = await world();
  const said = (stdout: string) => ({ code: 0, stdout: `${stdout}\n`, stderr: "" });
  const none = said("No invitation to this organization is open.");
  expect(await run(0)).toEqual(none);
  const listed = `${invitation}  to the consortium trade (${consortium}) of north, sent to ops@south.example`;
  expect(await run(1)).toEqual(said(listed));
  expect((await run(0, invitation)).stderr).toContain(`no open invitation ${invitation} to this organization`);
  expect(service.store.memberships.list()).toEqual([]);
  const accepted = "This organization is now a member of the consortium trade of north.";
  expect(await run(1, invitation)).toEqual(said(accepted));
  expect(service.store.memberships.list()).toMatchObject([{ fields: { org_name: "south" } }]);
  expect((await run(1, invitation)).code).toBe(1);
  expect(await run(1)).toEqual(none);
});

test.each([
  ["accept", [], "accept in its web console"],
  ["fund", ["tether0001"], "has no faucet: only `consortium serve` has one"],
])("%s: a service that has no such way says where else", async (command, args, why) => {
  const { service, run } = await world();
  const elsewhere = connection({ baseUrl: `${service.url}/elsewhere/api/v1`, apiKey: service.apiKey });
  const { code, stderr } = await consortium([command, ...args], elsewhere);
  expect([code, stderr]).toEqual([1, expect.stringContaining(why)]);
  expect((await run(0)).code).toBe(0);
});

test("fund: a tether that the service does not have is named", async () => {
  const { service } = await world();
  const { code, stderr } = await consortium(["fund", "tether0001"], connection(service));
  expect([code, stderr]).toEqual([1, expect.stringContaining("tether0001")]);
  expect(stderr).not.toContain("has no faucet");
});
