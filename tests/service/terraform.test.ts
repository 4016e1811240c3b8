import { start } from "./helpers";

const anything = expect.anything() as unknown;

/*
 * The calls of the Terraform provider for this API (kaleido-io/kaleido), in its order: it knows objects by `_id` alone, credentials
 * too, reads each by its id, sends a PATCH with fields that have not changed, and takes no other statuses than these.
 */

interface Known {
  /** Of its list. */
  path: string;
  id: string;
  body: Record<string, unknown>;
}

const asked = {
  consortium: { name: "supply", description: "chain" },
  membership: { org_name: "acme" },
  environment: {
    name: "prod",
    description: "main",
    provider: "quorum",
    consensus_type: "raft",
    test_features: { multi_region: true },
    block_period: 2,
    prefunded_accounts: { "0x00000000000000000000000000000000000a11ce": { balance: "5" } },
  },
  zone: { name: "east", region: "us-east-2", cloud: "aws", type: "kaleido" },
  configuration: { name: "gas", type: "node_config", details: { gas_price: "1" } },
  service: { name: "files", service: "ipfs", size: "small", details: {} },
  invitation: { org_name: "other", email: "ops@other.example" },
  node: { name: "node1", size: "small", role: "validator" },
  credential: { name: "app" },
};

describe.each(["", "/"])("with %j at the end of each path", (end) => {
  test("apply, an empty plan, a change of every kind, destroy", async () => {
    const { service: embedded } = await start({ timing: { environmentStart: 0, nodeStart: 0, deletedVisible: 0 } });

    /** As resty does it: a content type only where there is a body. */
    async function send(method: string, path: string, body?: object) {
      const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
      const response = await fetch(`${embedded.baseUrl}${path}${end}`, {
        method,
        headers: { authorization: `Bearer ${embedded.apiKey}`, "user-agent": "Terraform / v1.2.0 (BaaS)", ...type },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown> };
    }
    async function create(path: string, wanted: object): Promise<Known> {
      const { status, body } = await send("POST", path, wanted);
      expect({ status, body }).toEqual({ status: 201, body: expect.objectContaining(wanted) as object });
      return { path, id: body._id as string, body };
    }
    const read = ({ path, id }: Known) => send("GET", `${path}/${id}`);

    const consortium = await create("/consortia", asked.consortium);
    const within = `/consortia/${consortium.id}`;
    const membership = await create(`${within}/memberships`, asked.membership);
    const environment = await create(`${within}/environments`, asked.environment);
    const inside = `${within}/environments/${environment.id}`;
    const member = { membership_id: membership.id };
    // zones that are there already are shared, so it looks first
    for (const list of [`${within}/zones`, `${inside}/zones`])
      expect(await send("GET", list)).toEqual({ status: 200, body: [] });
    const consortiumZone = await create(`${within}/zones`, asked.zone);
    const zone = await create(`${inside}/zones`, asked.zone);
    const configuration = await create(`${inside}/configurations`, { ...asked.configuration, ...member });
    const inZone = { zone_id: zone.id, node_config_id: configuration.id };
    const node = await create(`${inside}/nodes`, { ...asked.node, ...member, ...inZone });
    const service = await create(`${inside}/services`, { ...asked.service, ...member, zone_id: zone.id });
    const invitation = await create(`${within}/invitations`, asked.invitation);
    const credential = await create(`${inside}/appcreds`, { ...asked.credential, ...member });
    expect(credential.body).toMatchObject({ id: credential.id, username: credential.id, auth_type: "basic_auth" });
    const more = [consortiumZone, zone, configuration, node, service, invitation];
    const all = [consortium, membership, environment, ...more, credential];

    for (const known of all) {
      const { password, ...kept } = known.body;
      expect(password).toEqual(known === credential ? expect.any(String) : undefined);
      // Some states move on by themselves, and a node that was made later is in the list of its environment.
      const moved = Object.fromEntries(
        ["state", "node_list"].filter((one) => one in kept).map((one) => [one, anything]),
      );
      expect(await read(known)).toEqual({ status: 200, body: { ...kept, ...moved } });
    }
    const running = { state: "started", urls: { http: expect.any(String) as string } };
    for (const known of [node, service]) expect((await read(known)).body).toMatchObject(running);

    const changes: [Known, object][] = [
      [consortium, { ...asked.consortium, description: "changed" }],
      [membership, { org_name: "Acme Corp" }],
      [environment, { name: "prod", description: "changed" }],
      [node, { size: "medium", node_config_id: configuration.id }],
      [consortiumZone, { ...asked.zone, name: "west" }],
      [zone, { ...asked.zone, name: "west" }],
      [configuration, { ...asked.configuration, details: { gas_price: "2" } }],
      [service, { name: "docs", size: "medium", details: { a: "1" } }],
      [invitation, { org_name: "Other Corp", email: "it@other.example" }],
      [credential, { name: "renamed", ...member }],
    ];
    for (const [known, change] of changes) {
      const { status, body } = await send("PATCH", `${known.path}/${known.id}`, change);
      expect({ status, body }).toEqual({
        status: 200,
        body: expect.objectContaining({ _id: known.id, ...change }) as object,
      });
      expect((await read(known)).body).toEqual(body);
    }

    for (const known of [node, service]) {
      expect((await send("PUT", `${known.path}/${known.id}/reset`, {})).status).toBe(200);
      expect((await read(known)).body).toMatchObject({ ...running, size: "medium" });
    }

    const statuses = { [consortium.id]: 202, [environment.id]: 202 };
    for (const known of all.reverse()) {
      const { status } = await send("DELETE", `${known.path}/${known.id}`);
      expect([known.path, status]).toEqual([known.path, statuses[known.id] ?? 204]);
      expect((await read(known)).status).toBe(404);
    }
  });
});

test("what a credential is bound to does not change", async () => {
  const { service, send } = await start();
  const consortium = (await send("POST", "/consortia", { name: "c" })).body._id;
  const within = `/consortia/${consortium}`;
  const [one, other] = [
    (await send("POST", `${within}/memberships`, { org_name: "a" })).body._id,
    (await send("POST", `${within}/memberships`, { org_name: "b" })).body._id,
  ];
  const environment = await send("POST", `${within}/environments`, { provider: "geth", consensus_type: "poa" });
  const list = `${within}/environments/${environment.body._id}/appcreds`;
  const path = `${list}/${(await send("POST", list, { membership_id: one })).body._id}`;
  expect(await send("PATCH", path, { membership_id: one })).toMatchObject({ status: 200, body: { _revision: "0" } });
  expect(await send("PATCH", path, { membership_id: other })).toMatchObject({ status: 400 });
  expect((await send("GET", path)).body).toMatchObject({ membership_id: one });
  service.setAnswers({ idField: "id" });
  expect((await send("GET", path)).body).not.toHaveProperty("_id");
});
