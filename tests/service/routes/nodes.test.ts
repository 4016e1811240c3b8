import { basic, clocked, containing, matching, populated, quick, refused } from "../helpers";

const hexOf = (bytes: number) => matching(new RegExp(`^0x[0-9a-f]{${bytes * 2}}$`));

describe("a node's status and logs", () => {
  test("status is refused until the node is started", async () => {
    const { service, send, clock, paths, environment, node, membership } = await clocked();
    expect(await send("GET", `${paths.node}/status`)).toMatchObject(refused(409, "initializing"));
    clock.pass(1_500);
    const { status, body } = await send("GET", `${paths.node}/status`);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: matching(/^[0-9a-f]{128}$/),
      geth: { public_address: hexOf(20), validators: [body.geth.public_address] },
      user_accounts: [hexOf(20)],
      block_height: 0,
      urls: {
        rpc: `${service.url}/runtime/${environment}/${node}`,
        wss: `ws://127.0.0.1:${service.port}/runtime/${environment}/${node}`,
      },
    });
    clock.pass(60_000);
    const later = (await send("GET", `${paths.node}/status`)).body;
    expect(later).toEqual({ ...body, block_height: 12 }); // ibft: a block in 5 seconds
    await send("POST", `${paths.environment}/nodes`, { membership_id: membership });
    clock.pass(60_000);
    const joined = (await send("GET", `${paths.node}/status`)).body;
    expect(joined).toMatchObject({ block_height: 24, geth: { validators: [body.geth.public_address, hexOf(20)] } });
  });

  test.each([
    ["quorum", "ibft", "geth", 200],
    ["quorum", "ibft", "constellation", 200],
    ["quorum", "ibft", "parity", 400],
    ["geth", "poa", "geth", 200],
    ["geth", "poa", "constellation", 400],
    ["pantheon", "ibft", "pantheon", 200],
    ["pantheon", "ibft", "geth", 200],
    ["pantheon", "ibft", "constellation", 400],
  ])("%s/%s has logs of %s: %i", async (provider, consensus_type, client, status) => {
    const { send, paths } = await populated({}, { provider, consensus_type });
    expect((await send("GET", `${paths.node}/logs/${client}`)).status).toBe(status);
  });

  test("maxlines is the number of most recent lines", async () => {
    const { send, clock, paths } = await clocked();
    clock.pass(3_600_000);
    const all = JSON.parse((await send("GET", `${paths.node}/logs/geth?maxlines=999`)).text) as string[];
    expect(all.length).toBeGreaterThan(700);
    const block = (at: number) => matching(new RegExp(`Imported block number=${at} hash=0x[0-9a-f]{64}$`));
    expect(all.slice(-3)).toEqual([717, 718, 719].map(block));
    expect((await send("GET", `${paths.node}/logs/geth?maxlines=3`)).body).toEqual(all.slice(-3));
    expect((await send("GET", `${paths.node}/logs/geth`)).body).toEqual(all.slice(-100));
    for (const wrong of ["0", "-1", "x", "1.5", ""]) {
      expect((await send("GET", `${paths.node}/logs/geth?maxlines=${wrong}`)).status).toBe(400);
    }
  });
});

test("an account of the chain is reused only for the same member's nodes", async () => {
  const { service, send, paths, node, membership } = await populated({ timing: { deleting: 0 } });
  const other = (await send("POST", `${paths.consortium}/memberships`, { org_name: "other" })).body._id;
  const account = (id: string) => service.store.nodes.get(id).fields.account ?? 0;
  const make = async (member: string) =>
    (await send("POST", `${paths.environment}/nodes`, { membership_id: member })).body._id;
  const first = account(node);
  expect((await send("DELETE", paths.node)).status).toBeLessThan(300);
  expect(account(await make(other))).not.toBe(first);
  expect(account(await make(membership))).toBe(first);
  const second = account(await make(membership));
  expect([first, account(await make(other))]).not.toContain(second); // that is in use, and another member's
  const shown = (await send("GET", `${paths.consortium}/environments`)).text;
  expect(shown).not.toContain("accountOwners");
});

test("a node answers its own member's credential with 501 without a ledger, and anything else with 401 and a challenge", async () => {
  const { service, send, paths, membership, environment, node, credential } = await populated({ timing: quick });
  const create = async (path: string, body: object) => (await send("POST", path, body)).body;
  const { _id: other } = await create(`${paths.consortium}/memberships`, { org_name: "other" });
  const { _id: theirs } = await create(`${paths.environment}/nodes`, { membership_id: other });
  const stranger = await create(`${paths.environment}/appcreds`, { membership_id: other });
  const { _id } = await create(`${paths.consortium}/environments`, { provider: "geth", consensus_type: "poa" });
  const away = await create(`${paths.consortium}/environments/${_id}/appcreds`, { membership_id: membership });
  const knock = async (headers: Record<string, string>, at = node) => {
    const url = `${service.url}/runtime/${environment}/${at}`;
    const answer = await fetch(url, { method: "POST", headers, body: "{}" });
    return [answer.status, answer.headers.get("www-authenticate"), await answer.text()];
  };
  const { username, password } = credential;
  const of = (pair: typeof credential) => basic(pair.username, pair.password);
  const open = [501, null, containing("No ledger")];
  expect([await knock(of(credential)), await knock(of(stranger), theirs)]).toEqual([open, open]);
  const closed = [401, 'Basic realm="node"', containing("application credential")];
  expect(await knock(of(credential), theirs)).toEqual(closed);
  const pairs = [basic(username, "wrong"), basic("nobody", password), basic(username, ""), of(stranger), of(away)];
  for (const headers of [{}, ...pairs, { authorization: `Bearer ${service.apiKey}` }])
    expect(await knock(headers)).toEqual(closed);
  expect((await send("GET", "/consortia", undefined, of(credential))).status).toBe(401);
});
