import { type Answer, anyText, start } from "./helpers";

/*
 * The calls of the Terraform provider for this API (kaleido-io/kaleido 1.3.1, Terraform 1.11.4), recorded on 2026-11-22 with a
 * configuration of every kind of object that it has: `$c` is the path of what `= c` made, `@c` its id. It takes no other statuses.
 */
const runs = [
  `
201 POST /consortia = c {"name":"Coffee trade","description":"who shipped what"}
200 GET $c/zones
201 POST $c/zones = z1 {"name":"east","region":"us-east-2","cloud":"aws"}
201 POST $c/invitations = i {"org_name":"Other Corp","email":"ops@other.example"}
201 POST $c/environments = e {"name":"Development","description":"Created with Terraform","provider":"quorum","consensus_type":"ibft","test_features":{"multi_region":true,"quick":true},"block_period":5,"prefunded_accounts":{"f601c8a58a738c1055094d0cf3018266d562c4a5":{"balance":"3000000000000000000000000000"}}}
201 POST $c/memberships = m1 {"org_name":"Org 2"}
201 POST $c/memberships = m2 {"org_name":"Org 1"}
200 GET $e/zones
201 POST $e/zones = z2 {"name":"east","region":"us-east-2","cloud":"aws","type":"kaleido"}
200 GET $e/services
201 POST $e/services = s1 {"name":"Registry","service":"idregistry","membership_id":"@m2"}
200 GET $s1
201 POST $e/configurations = g {"name":"gas","membership_id":"@m2","type":"node_config","details":{"gas_price":"1"}}
201 POST $e/appcreds = a {"membership_id":"@m2","name":"app"}
201 POST $e/services = s2 {"name":"Documents","service":"documentstore","zone_id":"@z2","membership_id":"@m2","size":"small","details":{"backup":"none"}}
200 GET $s2
201 POST $e/nodes = n1 {"name":"Node 1","membership_id":"@m2","zone_id":"@z2","role":"validator","size":"small","node_config_id":"@g"}
200 GET $n1
201 POST $e/nodes = n2 {"name":"Node 2","membership_id":"@m1","zone_id":"@z2","role":"validator","size":"small"}
200 GET $n2
200 GET $m2
200 POST $m2/verify {"test_certificate":true}
200 POST /idregistry/@s1/identity {"membership_id":"@m2"}
200 PUT /documentstore/@s2/destinations/invoices {"name":"invoices","kaleido_managed":true}
200 GET /documentstore/@s2/destinations
201 POST $e/services = s3 {"name":"IPFS 1","service":"ipfs","membership_id":"@m2"}
200 GET $s3`,
  `
200 PATCH $c {"name":"Coffee trade","description":"all"}
200 PATCH $e {"name":"Development","description":"Created with Terraform","test_features":{"other":1,"quick":true}}
200 PATCH $z1 {"name":"west"}
200 PATCH $i {"org_name":"Other Corp","email":"it@other.example"}
200 PATCH $m2 {"org_name":"Member 1"}
200 PATCH $m1 {"org_name":"Member 2"}
200 PATCH $z2 {"name":"west"}
200 PATCH $a {"membership_id":"@m2","name":"web"}
200 PATCH $g {"name":"gas","membership_id":"@m2","type":"node_config","details":{"gas_price":"2"}}
200 PATCH $s2 {"name":"Docs","service":"documentstore","zone_id":"@z2","membership_id":"@m2","size":"small","details":{"backup":"none"}}
200 PUT $s2/reset {}
200 GET $s2
200 PATCH $n2 {"size":"medium"}
200 PUT $n2/reset {}
200 GET $n2
200 PATCH $n1 {"size":"medium","node_config_id":"@g"}
200 PUT $n1/reset {}
200 GET $n1`,
  `
204 DELETE $s3
204 DELETE $i
204 DELETE /documentstore/@s2/destinations/invoices
204 DELETE $a
204 DELETE $s2
204 DELETE $n1
204 DELETE $n2
204 DELETE $g
202 DELETE $e
204 DELETE $m2
204 DELETE $m1
202 DELETE $c`,
] as const;

/** A plan reads each object by its id; destinations are listed. */
const read = ["$c", "$e", "$m2", "$m1", "$z1", "$i", "$z2", "$a", "$g", "$s1", "$s2", "$n1", "$n2", "$s3"];

const title = "apply, an empty plan, a change of every kind, an empty plan, destroy, with %j at the end of each path";
test.each(["", "/"])(title, async (end) => {
  const { send } = await start({ timing: { environmentStart: 0, nodeStart: 0, deletedVisible: 0 } });
  const known = new Map<string, { path: string; id: string }>();
  const filled = (text: string) =>
    text.replace(
      /([$@])(\w+)/g,
      (all, sign: string, name: string) => known.get(name)?.[sign === "$" ? "path" : "id"] ?? all,
    );

  async function run(calls: string) {
    for (const call of calls.trim().split("\n")) {
      const [, status, method = "", path = "", name, body] = /^(\d+) (\w+) (\S+)(?: = (\w+))? ?(.*)$/.exec(call)!;
      const given = body === "" ? undefined : filled(body!);
      const answer = await send(method, filled(path) + end, given);
      expect([call, answer.status, answer.text]).toEqual([call, Number(status), anyText]);
      if (name) known.set(name, { path: `${filled(path)}/${answer.body._id}`, id: answer.body._id });
      if (name || method === "PATCH") expect(answer.body).toMatchObject(JSON.parse(given!) as object);
    }
  }
  async function plan() {
    const found: Record<string, Answer> = {};
    for (const path of [...read, "/documentstore/@s2/destinations"])
      found[path] = await send("GET", filled(path) + end);
    return Object.fromEntries(Object.entries(found).map(([path, { status, body }]) => [path, { status, body }]));
  }
  const [apply, change, destroy] = runs;

  await run(apply);
  const planned = await plan();
  expect(await plan()).toEqual(planned);
  for (const path of read) expect([path, planned[path]!.status]).toEqual([path, 200]);
  const started = { state: "started", size: "small" };
  for (const path of ["$n1", "$n2"])
    expect(planned[path]!.body).toMatchObject({
      ...started,
      urls: { rpc: anyText, wss: anyText },
      first_user_account: anyText,
    });
  for (const path of ["$s1", "$s2", "$s3"])
    expect(planned[path]!.body).toMatchObject({ ...started, urls: { http: anyText } });
  expect(planned.$a!.body).toMatchObject({ auth_type: "basic_auth", username: known.get("a")!.id });
  expect(planned.$a!.body).not.toHaveProperty("password");
  const destination = { name: "invoices", kaleido_managed: true, uri: anyText, setup_complete: true };
  expect(planned["/documentstore/@s2/destinations"]!.body).toEqual([destination]);

  await run(change);
  const changed = await plan();
  expect(await plan()).toEqual(changed);
  for (const path of ["$n1", "$n2"]) expect(changed[path]!.body).toMatchObject({ state: "started", size: "medium" });

  const paths = read.map(filled);
  await run(destroy);
  for (const path of paths) expect([path, (await send("GET", path)).status]).toEqual([path, 404]);
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
