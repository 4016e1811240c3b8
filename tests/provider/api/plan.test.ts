import { LiveNetwork } from "../../../inventory/live";
import { ConsortiumClient } from "../../../provider/api/client";
import { http, json, peer, text } from "../../support/peer";
import { network } from "../../support/network";
import { start } from "../../support/service";

/* Limits of the plan, if the service reports them. */

const clientOf = (baseUrl: string): ConsortiumClient => new ConsortiumClient(http(baseUrl));

async function toldBy(answers: Record<string, unknown>): Promise<unknown> {
  const server = await peer((response, seen, socket) => {
    const where = server.requests[seen - 1]!.url.replace("/api/v1", "");
    (where in answers ? json(200, answers[where]) : json(404, {}))(response, seen, socket);
  });
  const client = clientOf(server.baseUrl);
  const told = await client.limits();
  const asked = server.requests.length;
  expect([await client.limits(), server.requests.length]).toEqual([told, asked]); // once
  return told;
}

const one = [{ _id: "one", plan: "team", cognito_client_secret: "hush" }];
const limits = {
  consortia: { per: { org: 7 } },
  environments: { per: { consortium: 8 } },
  nodes: { per: { environment: 9 } },
};
const all = { consortia: 7, environments: 8, nodes: 9 };

test.each<[string, Record<string, unknown>, unknown]>([
  ["all limits", { "/orgs": one, "/plans/team": { limits } }, all],
  ["some of them", { "/orgs": one, "/plans/team": { limits: { nodes: limits.nodes, members: {} } } }, { nodes: 9 }],
  [
    "limits that are none",
    { "/orgs": one, "/plans/team": { limits: { nodes: { per: { environment: "many" } } } } },
    {},
  ],
  ["a plan without limits", { "/orgs": one, "/plans/team": { name: "team" } }, undefined],
  ["no plans", { "/orgs": one }, undefined],
  ["an organization without a plan", { "/orgs": [{ _id: "one" }] }, undefined],
  ["no organizations", {}, undefined],
  [
    "several organizations, and the key's own",
    {
      "/orgs": [{ _id: "two", plan: "free" }, ...one],
      "/memberships": [{ _id: "m", org_id: "one" }],
      "/plans/team": { limits },
    },
    all,
  ],
  [
    "several organizations, and not whose the key is",
    { "/orgs": [{ _id: "two", plan: "team" }, ...one], "/plans/team": { limits } },
    undefined,
  ],
])("a service with %s", async (_, answers, told) => {
  expect(await toldBy(answers)).toEqual(told);
});

test("web pages in place of answers tell nothing", async () => {
  const server = await peer(text(200, "<html>"));
  expect(await clientOf(server.baseUrl).limits()).toBeUndefined();
});

const own = { consortia: 3, nodes: 6 };
test.each([
  [{}, { ...own, environments: 3 }, [3, 3, 6, 6]],
  [{ extended: false }, undefined, [2, 3, 4, 4]],
])("the embedded service reports them to the client and to the live network: %j", async (answers, told, most) => {
  const { service, time } = await start({ limits: own, answers });
  await network(service, time);
  const client = new ConsortiumClient();
  expect(await client.limits()).toEqual(told);
  const seen = await new LiveNetwork(client).look({ plan: true });
  expect(seen.limits.map((one) => one.most)).toEqual(most);
  expect((await new LiveNetwork(client).look()).limits.map((one) => one.most)).toEqual([2, 3, 4, 4]);
});
