import { send } from "../support/network";
import { start } from "../support/service";
import { consortium } from "./command";

/* How an organization accepts an invitation on the embedded service. */

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

test("a service that has no such way says where else", async () => {
  const { service, run } = await world();
  const CONSORTIUM_BASE_URL = `${service.url}/elsewhere/api/v1`;
  const { code, stderr } = await consortium(["accept"], {
    CONSORTIUM_API_KEY: service.apiKey,
    CONSORTIUM_BASE_URL,
  });
  expect([code, stderr]).toEqual([1, expect.stringContaining("accept in its web console")]);
  expect((await run(0)).code).toBe(0);
});
