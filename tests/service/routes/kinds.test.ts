import type { ServiceOptions } from "../../../service/index";
import { anyText, basic, furnished, listOf, matching, newFolder, quick, refused, type Send, start } from "../helpers";

/* The kinds of objects that other clients of this API manage beyond its specification. */

const kinds = ["consortiumZone", "environmentZone", "configuration", "service", "invitation"] as const;
type Kind = (typeof kinds)[number];

const world = (options: ServiceOptions = {}) => furnished({ timing: quick, ...options });

const shown: Record<Kind, object> = {
  consortiumZone: { name: "z", region: "us-east-2", cloud: "aws", type: "kaleido" },
  environmentZone: { name: "z", region: "us-east-2", cloud: "aws", type: "kaleido" },
  configuration: { name: "c", type: "node_config", details: { key: "s3cr3t-value" } },
  service: { name: "s", service: "ipfs", service_type: "member", size: "small", details: { key: "s3cr3t-value" } },
  invitation: { org_name: "other", email: "ops@other.example", state: "sent" },
};
/** A field that is fixed, and values that are wrong in a create. */
const unfit: Record<Kind, { fixed: object; wrong: Record<string, unknown[]> }> = {
  consortiumZone: { fixed: { region: "eu" }, wrong: { region: [undefined], cloud: [""], state: ["live"] } },
  environmentZone: { fixed: { cloud: "azure" }, wrong: { region: [1], cloud: [undefined] } },
  configuration: {
    fixed: { type: "kms" },
    wrong: { type: [undefined], membership_id: ["nobody"], details: ["text"] },
  },
  service: {
    fixed: { service: "hdwallet" },
    wrong: { service: [" "], membership_id: [undefined], zone_id: ["nowhere"], details: [[1]], urls: [{}] },
  },
  invitation: { fixed: { state: "accepted" }, wrong: { org_name: [" "], email: ["nobody", undefined] } },
};

describe.each(kinds)("%s", (kind) => {
  test("shows its fields, and refuses invalid and immutable ones by name", async () => {
    const { send, more } = await world();
    const [path, list] = [more[kind], listOf(more[kind])];
    const { fixed, wrong } = unfit[kind];
    const chosen = new Set(["_id", "_revision", "created_at", "state", "service_type", "urls"]);
    const { body: read } = await send("GET", path);
    expect(read).toMatchObject({ _id: path.split("/").at(-1), _revision: "0", ...shown[kind] });
    const body = Object.fromEntries(Object.entries(read).filter(([field]) => !chosen.has(field)));
    for (const [field, values] of Object.entries(wrong))
      for (const value of values) {
        const answer = await send("POST", list, { ...body, [field]: value });
        expect(answer).toMatchObject(refused(400, field));
      }
    expect(await send("PATCH", path, fixed)).toMatchObject(refused(400, Object.keys(fixed)[0]));
    expect((await send("GET", list)).body).toHaveLength(1);
    expect((await send("POST", list, body)).status).toBe(201);
  });
});

describe("relations", () => {
  test("deleting a consortium or an environment deletes all contents", async () => {
    const { service, send, paths, more } = await world({ answers: { refuseChildren: false } });
    await send("DELETE", paths.environment);
    for (const kind of ["environmentZone", "configuration", "service"] as const)
      expect((await send("GET", more[kind])).status).toBe(404);
    expect((await send("GET", more.consortiumZone)).status).toBe(200);
    await send("DELETE", paths.consortium);
    const { destinations, tethers, consortia, ...within } = service.store;
    for (const all of Object.values(within)) expect(all.list()).toEqual([]);
    expect([destinations, tethers, consortia].map((all) => all.list().length)).toEqual([0, 0, 0]);
  });

  test("a member with configurations or services cannot be deleted", async () => {
    const { send, paths, more } = await world();
    const refusal = async () => (await send("DELETE", paths.membership)).body?.errorMessage;
    expect(await refusal()).toMatch(/1 node\(s\) and 1 configuration\(s\) and 1 service\(s\)/);
    await send("DELETE", paths.node);
    await send("DELETE", more.service);
    expect(await refusal()).toMatch(/still has 1 configuration\(s\)/);
    await send("DELETE", more.configuration);
    expect((await send("DELETE", paths.membership)).status).toBe(204);
  });

  test("objects that a node or a service uses cannot be deleted", async () => {
    const { service, send, paths, membership, more } = await world();
    const id = (path: string) => path.split("/").at(-1);
    const named = { zone_id: id(more.environmentZone), node_config_id: id(more.configuration) };
    const made = await send("POST", `${paths.environment}/nodes`, { membership_id: membership, ...named });
    for (const path of [more.environmentZone, more.configuration]) {
      expect(await send("DELETE", path)).toMatchObject(refused(409, made.body._id));
    }
    await send("PATCH", `${paths.environment}/nodes/${made.body._id}`, { node_config_id: null });
    expect((await send("DELETE", more.configuration)).status).toBe(204);
    service.setAnswers({ refuseChildren: false });
    expect((await send("DELETE", more.environmentZone)).status).toBe(204);
  });

  test("in a zone with a bridge, each node and service has a port", async () => {
    const { send, paths, membership } = await world();
    const zone = { region: "us-east-2", cloud: "aws", type: "private", bridge_id: "b1" };
    const zone_id = (await send("POST", `${paths.environment}/zones`, zone)).body._id;
    const body = { membership_id: membership, zone_id };
    const one = await send("POST", `${paths.environment}/nodes`, body);
    const two = await send("POST", `${paths.environment}/services`, { ...body, service: "hdwallet" });
    const three = await send("POST", `${paths.environment}/nodes`, body);
    await send("DELETE", `${paths.environment}/nodes/${one.body._id}`);
    const four = await send("POST", `${paths.environment}/services`, { ...body, service: "ipfs" });
    const ports = [one, two, three, four].map((made) => made.body.hybrid_port_allocation);
    expect(ports).toEqual([40_000, 40_001, 40_002, 40_000]);
    expect((await send("GET", paths.node)).body).not.toHaveProperty("hybrid_port_allocation");
  });
});

describe("a service", () => {
  test("shows its address once it has started, and ignores empty values of a change", async () => {
    const { service, send, clock, environment, more } = await furnished();
    expect((await send("GET", more.service)).body).not.toHaveProperty("urls");
    clock.pass(1_500);
    const urls = { http: `${service.url}/services/${environment}/${more.service.split("/").at(-1)}` };
    // like the Terraform provider, which sends empty values for unchanged fields
    const body = { name: "s2", service: "", zone_id: "", membership_id: "", size: "medium", details: { a: "1" } };
    const changed = { state: "started", urls, service: "ipfs", name: "s2", size: "medium" };
    expect(await send("PATCH", more.service, body)).toMatchObject({ status: 200, body: changed });
  });

  test("of a utility type exists once, for all members of the environment", async () => {
    const { service, send, paths, membership, environment, credential } = await world();
    const list = `${paths.environment}/services`;
    const wanted = { service: "idregistry", membership_id: membership, zone_id: "" };
    const registry = await send("POST", list, wanted);
    expect(registry).toMatchObject({ status: 201, body: { service_type: "utility" } });
    expect(await send("POST", list, wanted)).toMatchObject(refused(409, registry.body._id));
    expect((await send("POST", list, { ...wanted, service: "ipfs" })).status).toBe(201);

    const other = (await send("POST", `${paths.consortium}/memberships`, { org_name: "other" })).body._id;
    const theirs = (await send("POST", `${paths.environment}/appcreds`, { membership_id: other })).body;
    const own = (await send("GET", list)).body.find(({ service }) => service === "ipfs")!._id;
    const knock = async (id: string, { username, password }: typeof credential) => {
      const url = `${service.url}/services/${environment}/${id}/api/v1/some`;
      const response = await fetch(url, { headers: basic(username, password) });
      return { status: response.status, body: await response.json() };
    };
    const nothing = refused(501, "only manages it");
    expect(await knock(own, credential)).toEqual(nothing);
    expect(await knock(registry.body._id, theirs)).toEqual(nothing);
    expect((await knock(own, theirs)).status).toBe(401);
    const elsewhere = { name: "elsewhere", provider: "quorum", consensus_type: "raft" };
    const second = (await send("POST", `${paths.consortium}/environments`, elsewhere)).body._id;
    const pairs = `${paths.consortium}/environments/${second}/appcreds`;
    const ofAnother = (await send("POST", pairs, { membership_id: membership })).body;
    expect((await knock(registry.body._id, ofAnother)).status).toBe(401);
    expect((await knock(own, { ...credential, password: "x" })).status).toBe(401);
    expect((await knock("nothing", credential)).status).toBe(401);
  });

  test.each([true, false])("of a utility type outlives its member (refuseChildren: %p)", async (refuseChildren) => {
    const { send, paths, membership } = await world({ answers: { refuseChildren } });
    const other = (await send("POST", `${paths.consortium}/memberships`, { org_name: "other" })).body._id;
    const list = `${paths.environment}/services`;
    const make = async (service: string) => (await send("POST", list, { service, membership_id: other })).body._id;
    const [registry, ipfs] = [await make("idregistry"), await make("ipfs")];
    const path = `${paths.consortium}/memberships/${other}`;
    if (refuseChildren) {
      expect((await send("DELETE", path)).body.errorMessage).toContain("1 service(s)");
      await send("DELETE", `${list}/${ipfs}`);
    }
    expect((await send("DELETE", path)).status).toBe(204);
    expect((await send("GET", list)).body.map(({ _id }) => _id)).toContain(registry);
    expect((await send("GET", `${list}/${ipfs}`)).status).toBe(404);
    expect((await send("GET", paths.membership)).body._id).toBe(membership);
  });
});

describe("a destination", () => {
  const holders = ["documentstore", "dataexchange", "app2app"] as const;
  async function stores(type: (typeof holders)[number], options = {}) {
    const made = await world(options);
    const { send, paths, membership } = made;
    const create = async (service: string) =>
      (await send("POST", `${paths.environment}/services`, { service, membership_id: membership })).body._id;
    const [registry, store] = [await create("idregistry"), await create(type)];
    return {
      ...made,
      registry,
      store,
      list: `/${type}/${store}/destinations`,
      identity: `/idregistry/${registry}/identity`,
    };
  }
  async function verify(send: Send, path: string, identity: string, membership: string) {
    const verified = await send("POST", `${path}/verify`, { test_certificate: true });
    expect(verified).toMatchObject({ status: 200, body: { _id: membership, verification_proof: anyText } });
    expect((await send("POST", identity, { membership_id: membership })).status).toBe(200);
  }

  test.each(holders)("of a %s: requirements, put, read, delete", async (type) => {
    const { send, paths, membership, environment, identity, list, store } = await stores(type);
    const wanted = { name: "inbox", kaleido_managed: true };
    const put = () => send("PUT", `${list}/inbox`, wanted);
    expect(await put()).toMatchObject(refused(409, "not verified"));
    const register = () => send("POST", identity, { membership_id: membership });
    expect(await register()).toMatchObject(refused(409, "not verified"));
    expect((await send("POST", `${paths.membership}/verify`, {})).status).toBe(400);
    const proof = await send("POST", `${paths.membership}/verify`, { test_certificate: true });
    expect(proof.status).toBe(200);
    expect(await put()).toMatchObject(refused(409, "not registered"));
    await verify(send, paths.membership, identity, membership);
    expect((await send("GET", paths.membership)).body.verification_proof).toBe(proof.body.verification_proof);
    expect(await register()).toMatchObject(refused(409, "already registered"));

    const uri = `kld://${type}/m/${membership}/e/${environment}/s/${store}/d/inbox`;
    const made = { ...wanted, uri, setup_complete: true };
    expect(await put()).toMatchObject({ status: 200, body: made });
    const changed = { ...made, kaleido_managed: false };
    expect((await send("PUT", `${list}/inbox`, changed)).body.kaleido_managed).toBe(false);
    expect((await send("GET", `${list}/inbox`)).body).toEqual(changed);
    expect((await send("GET", list)).body).toEqual([changed]);
    expect((await send("PUT", `${list}/outbox`, { name: "inbox" })).status).toBe(400);
    expect((await send("PUT", `${list}/${encodeURIComponent("a/b c")}`, {})).body).toMatchObject({
      name: "a/b c",
      uri: matching(/a%2Fb%20c$/),
    });
    expect((await send("DELETE", `${list}/inbox`)).status).toBe(204);
    for (const method of ["GET", "DELETE"]) expect((await send(method, `${list}/inbox`)).status).toBe(404);
    expect((await send("GET", list)).body).toHaveLength(1);
  });

  test("belongs only to these services, started ones, of the own organization", async () => {
    const organizations = [{ name: "one" }, { name: "two" }];
    const { service, send, store, registry, more, list } = await stores("documentstore", { organizations });
    const ipfs = more.service.split("/").at(-1)!;
    const others = [`/documentstore/${registry}`, `/documentstore/${ipfs}`, "/documentstore/x", `/ipfs/${ipfs}`];
    for (const path of [`/dataexchange/${store}`, ...others])
      expect((await send("GET", `${path}/destinations`)).status).toBe(404);
    const headers = { authorization: `Bearer ${service.organizations[1]!.apiKey}` };
    expect((await send("GET", list, undefined, headers)).status).toBe(404);
    service.store.services.setState(store, "initializing");
    expect(await send("GET", list)).toMatchObject(refused(409, "initializing"));
  });

  test("and a registration survive a restart, and are deleted with their service", async () => {
    const dataDir = newFolder();
    const before = await stores("documentstore", { dataDir });
    const { paths, membership, identity, list, registry, store } = before;
    await verify(before.send, paths.membership, identity, membership);
    expect((await before.send("PUT", `${list}/inbox`, { name: "inbox" })).status).toBe(200);
    await before.service.close();
    const { send, service } = await start({ dataDir });
    expect((await send("GET", list)).body).toMatchObject([{ name: "inbox" }]);
    expect((await send("POST", identity, { membership_id: membership })).status).toBe(409);
    await send("DELETE", `${paths.environment}/services/${registry}`);
    expect((await send("PUT", `${list}/other`, {})).status).toBe(409);
    await send("DELETE", `${paths.environment}/services/${store}`);
    expect((await send("GET", list)).status).toBe(404);
    expect(service.store.destinations.list()).toEqual([]);
  });
});

test("the call log contains no details", async () => {
  const { service } = await world();
  expect(service.calls.some(({ path }) => path.endsWith("/configurations"))).toBe(true);
  expect(JSON.stringify(service.calls)).not.toContain("s3cr3t-value");
});
