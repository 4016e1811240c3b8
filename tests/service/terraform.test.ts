import { anyText, FakeClock, populated, type Send, start } from "./helpers";

/*
 * The calls of the Terraform provider for this API (kaleido-io/kaleido, Terraform 1.11.4), as recorded: a status, a method, a path and a
 * body. `$c` is the path of the object of `= c`, `@c` its id. It accepts no other status. `~`: it repeats the call every five seconds until
 * it gets that status, and until the object of a GET is started.
 */

const line = /^(\d+)(~?) (\w+) (\S+)(?: = (\w+))?(?: (\{.*))?$/;
/** How often it repeats a call before that counts as refused forever. */
const patience = 5;

class Recorded {
  readonly #made = new Map<string, { path: string; id: string; sent: Record<string, unknown> }>();
  readonly #destinations = new Map<string, Set<string>>();

  /** @param end of each path */
  constructor(
    readonly send: Send,
    readonly clock: FakeClock,
    readonly end: string,
  ) {}

  filled = (text: string): string =>
    text.replace(
      /([$@])(\w+)/g,
      (all, sign: string, name: string) => this.#made.get(name)?.[sign === "$" ? "path" : "id"] ?? all,
    );

  /** Sends calls in order, and checks their statuses, and that answers show the sent values. */
  async run(calls: string): Promise<void> {
    for (const call of calls.trim().split("\n")) {
      const [, status, repeated, method = "", where = "", name, body] = line.exec(call)!;
      const path = this.filled(where);
      const given = body === undefined ? undefined : this.filled(body);
      const sent = JSON.parse(given ?? "{}") as Record<string, unknown>;
      const ask = () => this.send(method, path + this.end, given);
      let last = await ask();
      const isDone = () => last.status === Number(status) && (method !== "GET" || last.body.state === "started");
      for (let times = 0; repeated && !isDone() && times < patience; times++) {
        this.clock.pass(5_000);
        last = await ask();
      }
      expect([call, last.status, last.text]).toEqual([call, Number(status), anyText]);
      if (repeated && method === "GET") expect([call, last.body.state]).toEqual([call, "started"]);
      if (name) this.#made.set(name, { path: `${path}/${last.body._id}`, id: last.body._id, sent });
      if (name || method === "PATCH") expect(last.body).toMatchObject(sent);
      if (method === "PATCH") Object.assign([...this.#made.values()].find((one) => one.path === path)!.sent, sent);
      const [, list, destination = ""] = /^(.*\/destinations)\/(\w+)$/.exec(path) ?? [];
      if (list && method === "PUT")
        this.#destinations.set(list, (this.#destinations.get(list) ?? new Set()).add(destination));
    }
  }

  /** Reads everything as a plan does: by id, and destinations from their list. It must match the sent values. */
  async plan(): Promise<Record<string, unknown>> {
    const found: Record<string, unknown> = {};
    for (const [name, { path, sent }] of this.#made) {
      const { status, body } = await this.send("GET", path + this.end);
      // an unset name would be a change in every plan
      expect({ name, status, body }).toMatchObject({ name, status: 200, body: sent });
      if (sent.name === undefined && sent.org_name === undefined) expect([name, body.name]).toEqual([name, undefined]);
      if (/^[ns]\d/.test(name)) expect(body).toMatchObject({ state: "started", urls: expect.any(Object) as object });
      found[name] = body;
    }
    for (const [list, names] of this.#destinations) {
      const { body } = await this.send("GET", list + this.end);
      const complete = { kaleido_managed: true, uri: anyText, setup_complete: true };
      expect(body).toEqual([...names].map((name) => ({ name, ...complete })));
      found[list] = body;
    }
    return found;
  }

  /** The names of objects that can still be read after a while. */
  async left(): Promise<string[]> {
    this.clock.pass(120_000);
    const found = [];
    for (const [name, { path }] of this.#made)
      if ((await this.send("GET", path + this.end)).status !== 404) found.push(name);
    return found;
  }
}

/** Recorded on 2026-11-22 (provider 1.3.1) with a configuration of every kind of object that the provider has. */
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
200~ GET $s1
201 POST $e/configurations = g {"name":"gas","membership_id":"@m2","type":"node_config","details":{"gas_price":"1"}}
201 POST $e/appcreds = a {"membership_id":"@m2","name":"app"}
201 POST $e/services = s2 {"name":"Documents","service":"documentstore","zone_id":"@z2","membership_id":"@m2","size":"small","details":{"backup":"none"}}
200~ GET $s2
201 POST $e/nodes = n1 {"name":"Node 1","membership_id":"@m2","zone_id":"@z2","role":"validator","size":"small","node_config_id":"@g"}
200~ GET $n1
201 POST $e/nodes = n2 {"name":"Node 2","membership_id":"@m1","zone_id":"@z2","role":"validator","size":"small"}
200~ GET $n2
200 GET $m2
200 POST $m2/verify {"test_certificate":true}
200 POST /idregistry/@s1/identity {"membership_id":"@m2"}
200 PUT /documentstore/@s2/destinations/invoices {"name":"invoices","kaleido_managed":true}
200 GET /documentstore/@s2/destinations
201 POST $e/services = s3 {"name":"IPFS 1","service":"ipfs","membership_id":"@m2"}
200~ GET $s3`,
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
200~ GET $s2
200 PATCH $n2 {"size":"medium"}
200 PUT $n2/reset {}
200~ GET $n2
200 PATCH $n1 {"size":"medium","node_config_id":"@g"}
200 PUT $n1/reset {}
200~ GET $n1`,
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
204~ DELETE $m2
204 DELETE $m1
202 DELETE $c`,
] as const;

test.each([
  ["specification", ""],
  ["specification", "/"],
  ["hosted", ""],
] as const)(
  "like %s, with %j after each path: apply, every change, destroy, always with an empty plan afterwards",
  async (like, end) => {
    const clock = new FakeClock();
    const timing = { environmentStart: 1_000, nodeStart: 7_000, deletedVisible: 60_000 };
    const { send } = await start({ clock: clock.now, timing, answers: { like } });
    const recorded = new Recorded(send, clock, end);
    const [apply, change, destroy] = runs;
    await recorded.run(apply);
    const planned = await recorded.plan();
    expect(await recorded.plan()).toEqual(planned);
    for (const name of ["n1", "n2"])
      expect(planned[name]).toMatchObject({ urls: { rpc: anyText, wss: anyText }, first_user_account: anyText });
    for (const name of ["s1", "s2", "s3"]) expect(planned[name]).toMatchObject({ urls: { http: anyText } });
    expect(planned.a).toMatchObject({ auth_type: "basic_auth", username: recorded.filled("@a") });
    expect(planned.a).not.toHaveProperty("password");
    await recorded.run(change);
    const changed = await recorded.plan();
    expect(await recorded.plan()).toEqual(changed);
    for (const name of ["n1", "n2"]) expect(changed[name]).toMatchObject({ state: "started", size: "medium" });
    await recorded.run(destroy);
    expect(await recorded.left()).toEqual([]);
  },
);

test("a credential's environment and membership cannot change", async () => {
  const { send, paths, membership } = await populated();
  const path = paths.credential;
  const other = (await send("POST", `${paths.consortium}/memberships`, { org_name: "b" })).body._id;
  expect((await send("PATCH", path, { membership_id: membership })).body._revision).toBe("0");
  expect((await send("PATCH", path, { membership_id: other })).status).toBe(400);
  expect((await send("GET", path)).body.membership_id).toBe(membership);
});
