import fc from "fast-check";
import { Pool } from "undici";
import { random } from "../../support/random";
import { build, client, furnish, quick, start } from "../helpers";

const inEnvironment = ["nodes", "appcreds", "zones", "configurations", "services"];

test("2,000 random calls with keys of two organizations never show or change the other one's objects", async () => {
  const { service } = await start({
    organizations: [{ name: "north" }, { name: "south" }],
    tethers: ["north", "south"].map((organization) => ({ id: `tether-of-${organization}`, organization })),
    answers: { refuseChildren: false },
    timing: quick,
  });
  const pool = new Pool(service.url, { connections: 8 });
  const world = async (apiKey: string) => {
    const send = client(service.baseUrl, apiKey);
    const made = await build(send);
    const { consortium, membership, environment, node, credential } = made;
    const more = await furnish(send, made);
    const idOf = (path: string) => path.split("/").at(-1)!;
    return {
      consortia: consortium,
      memberships: membership,
      environments: environment,
      nodes: node,
      appcreds: credential.username,
      zones: idOf(more.environmentZone),
      configurations: idOf(more.configuration),
      services: idOf(more.service),
      invitations: idOf(more.invitation),
    };
  };
  const sides = await Promise.all(
    service.organizations.map(async ({ name, id, apiKey }) => {
      return { name, id, apiKey, mark: `marked-by-${name}`, ids: await world(apiKey), tether: `tether-of-${name}` };
    }),
  );
  type Side = (typeof sides)[number];
  const kinds = Object.keys(sides[0]!.ids) as (keyof Side["ids"])[];

  /** All objects of an organization, as it sees them. */
  const seen = async ({ apiKey, tether }: Side) => {
    const ask = async (path: string) => (await client(service.baseUrl, apiKey)("GET", path)).body;
    const consortia = await ask("/consortia");
    const below = await Promise.all(
      consortia.map(async ({ _id }) => {
        const environments = await ask(`/consortia/${_id}/environments`);
        const inside = environments.flatMap((environment) =>
          inEnvironment.map((list) => ask(`/consortia/${_id}/environments/${environment._id}/${list}`)),
        );
        const beside = ["memberships", "zones", "invitations"].map((list) => ask(`/consortia/${_id}/${list}`));
        return [environments, ...(await Promise.all([...beside, ...inside]))];
      }),
    );
    return { consortia, below, tether: await ask(`/tether/${tether}`) };
  };
  const idsIn = (value: unknown) =>
    [...JSON.stringify(value).matchAll(/"(?:_id|id|username)":"([^"]+)"/g)].map(([, id]) => id!);

  /** There must be one object of each kind, or nothing could be shown or changed. */
  const restore = async (one: Side) => {
    const found = new Set(idsIn(await seen(one)));
    if (Object.values(one.ids).every((id) => found.has(id))) return;
    const send = client(service.baseUrl, one.apiKey);
    for (const { _id } of (await send("GET", "/consortia")).body) await send("DELETE", `/consortia/${_id}`);
    one.ids = await world(one.apiKey);
  };

  const side = fc.constantFrom(0, 1);
  const place = fc.tuple(fc.constantFrom(...kinds), side, fc.nat(3));
  const extra = fc.constantFrom(
    ...["", "", "", "/status", "/logs/geth", "/reset", "/verify", "?name=n1", "?org_name=acme", "/..", "/"],
  );
  /** Finds the id of an object of one side: from 2 on, that of any object that it has. */
  type Pick = (kind: keyof Side["ids"], which: number, nth?: number) => string;
  type Path = (pick: Pick) => string;
  const actions = ["/account", "/account/rinkeby", "/reports", "/reportcount", "/deploy", "/activate", "/deactivate"];
  const ofTether = fc.tuple(side, fc.constantFrom("", ...actions)).map(
    ([which, action]): Path =>
      () =>
        `/tether/${sides[which]!.tether}${action}`,
  );
  const anywhere = fc
    .tuple(fc.array(place, { minLength: 1, maxLength: 3 }), fc.boolean(), extra)
    .map(([steps, whole, end]): Path => (pick) => {
      const path = steps.map((step) => `/${step[0]}/${pick(...step)}`).join("");
      return (whole ? path : path.replace(/\/[^/]*$/, "")) + end;
    });
  const below = fc.constantFrom(...kinds.filter((kind) => kind !== "consortia"));
  const asAllowed = fc
    .tuple(side, side, side, below, fc.boolean(), extra)
    .map(([a, b, c, kind, whole, end]): Path => (pick) => {
      const within = inEnvironment.includes(kind) ? `/environments/${pick("environments", b)}` : "";
      return `/consortia/${pick("consortia", a)}${within}/${kind}${whole ? `/${pick(kind, c)}` : ""}${end}`;
    });
  const call = fc.record({
    method: fc.constantFrom("GET", "GET", "POST", "POST", "POST", "PATCH", "PUT", "DELETE"),
    path: fc.oneof(
      { weight: 1, arbitrary: ofTether },
      { weight: 6, arbitrary: anywhere },
      { weight: 6, arbitrary: asAllowed },
    ),
    member: side,
  });
  type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

  const tries = random(20);
  let made = 0;
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(side, fc.array(call, { minLength: 100, maxLength: 100 }), async (who, calls) => {
      const caller = sides[who]!;
      const other = sides[1 - who]!;
      await Promise.all(sides.map(restore));
      const [before, own] = await Promise.all([seen(other), seen(caller)]);
      const theirs = new Set([...idsIn(before), other.id, ...Object.values(other.ids)]);
      const fresh = who === 0 ? [idsIn(own), idsIn(before)] : [idsIn(before), idsIn(own)];
      const wrong: string[] = [];
      const pick: Pick = (kind, which, nth = 0) =>
        (nth > 1 ? fresh[which]![nth % Math.max(1, fresh[which]!.length)] : undefined) ?? sides[which]!.ids[kind];
      const one = async (asked: Call) => {
        const path = asked.path(pick);
        const named = { name: caller.mark, org_name: caller.mark, membership_id: sides[asked.member]!.ids.memberships };
        const others = { network: "rinkeby", interval: 1, region: "r", cloud: "c", type: "t", email: "a@b.example" };
        // elsewhere the service sets these itself
        const environment = /environments\/?$/.test(path) ? { provider: "geth", consensus_type: "poa" } : {};
        const body = { ...named, ...others, ...environment, service: "ipfs" };
        const change = { name: caller.mark };
        const sent = ({ POST: body, PATCH: change } as Record<string, object>)[asked.method];
        const { statusCode, body: answer } = await pool.request({
          method: asked.method,
          path: `/api/v1${path}`,
          headers: {
            authorization: `Bearer ${caller.apiKey}`,
            ...(sent ? { "content-type": "application/json" } : {}),
          },
          ...(sent ? { body: JSON.stringify(sent) } : {}),
        });
        made++;
        statuses.add(statusCode);
        const text = await answer.text();
        const shown =
          statusCode < 300 ? idsIn(text === "" ? null : JSON.parse(text)).filter((id) => theirs.has(id)) : [];
        if (shown.length > 0 || text.includes(other.mark) || statusCode >= 500)
          wrong.push(`${asked.method} ${path}: ${statusCode} ${text}`);
      };
      for (let from = 0; from < calls.length; from += 8) await Promise.all(calls.slice(from, from + 8).map(one));
      expect(wrong).toEqual([]);
      expect(await seen(other)).toEqual(before);
    }),
    { ...tries, endOnFailure: true },
  );
  expect(made).toBe(100 * tries.numRuns);
  expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 400, 404]));
  await pool.close();
});
