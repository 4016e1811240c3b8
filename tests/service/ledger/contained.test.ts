import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { random } from "../../support/random";
import { basic, build, containing, newFolder, populated, quick, start } from "../helpers";
import { until } from "../../support/until";
import { eth, ledgered, raw, result, rpc, webSocket } from "../ledgers";
import { signing, standard } from "../../../service/ledger/params";

afterEach(() => jest.restoreAllMocks());

/** JSON objects with members named like the methods that JavaScript calls to convert an object. */
const overriding = fc
  .dictionary(
    fc.constantFrom(..."toString valueOf toJSON __proto__ constructor then length from blockNumber".split(" ")),
    fc.constantFrom(1, null, "x", [], {}, true, { toString: 1 }),
    { minKeys: 1, maxKeys: 4 },
  )
  .map((members) => {
    const all = Object.entries(members).map(([name, value]) => `"${name}":${JSON.stringify(value)}`);
    return `{${all.join()}}`; // as JSON.stringify would not write __proto__
  });

/** The same in each place of a call, as a caller would write it. */
const hostile = (method: string) =>
  fc.tuple(overriding, fc.constantFrom("latest", "0x1", null), fc.nat(5)).map(([object, word, where]) => {
    const other = JSON.stringify(word);
    const params = [
      ...[`[${object}]`, `[${other},${object}]`, `[[${object}]]`, `[${other},${other},${object},${object}]`],
      ...[`[{"from":${object},"to":${object},"fromBlock":${object},"gas":${object}},${object}]`, object],
    ][where]!;
    return `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
  });

test("objects that override their conversion in JavaScript fail only their own call, over HTTP and WebSocket", async () => {
  const { credential, urls } = await ledgered();
  const warned = jest.spyOn(process, "emitWarning");
  const { socket, messages } = await webSocket(urls.wss, credential);
  const headers = basic(credential.username, credential.password);
  const overSocket = async (text: string) => {
    const before = messages.length;
    socket.send(text);
    await until(() => messages.length > before || socket.readyState !== socket.OPEN);
    return JSON.stringify(messages[before]);
  };
  const ways = [async (text: string) => (await raw(urls.rpc, headers, text)).text, overSocket];
  for (const method of [...standard.keys(), ...signing.keys()]) {
    await fc.assert(
      fc.asyncProperty(hostile(method), fc.constantFrom(...ways), async (text, way) => {
        const { id, result, error } = JSON.parse(await way(text)) as { id: unknown; result?: unknown; error?: unknown };
        expect([id, result ?? error]).toEqual([1, expect.anything()]);
      }),
      random(16),
    );
  }
  for (const way of ways) expect(JSON.parse(await way(JSON.stringify(eth("eth_chainId"))))).toHaveProperty("result");
  expect(warned.mock.calls).toEqual([]);
});

test("so are bodies of the API", async () => {
  const { service, send, paths, membership } = await populated();
  const warned = jest.spyOn(process, "emitWarning");
  const lists = ["environments", "memberships", "zones", "invitations"].map((list) => `${paths.consortium}/${list}`);
  const inside = ["nodes", "appcreds", "zones", "configurations", "services"];
  const within = inside.map((list) => `${paths.environment}/${list}`);
  const above = ["/consortia", "/embedded/faults", "/embedded/tethers", "/embedded/api-keys"];
  const names = "name description details org_name email region type service prefunded_accounts";
  const others = "kind environment test_features x";
  const body = fc.dictionary(fc.constantFrom(...`${names} ${others}`.split(" ")), overriding);
  const known = { provider: "geth", consensus_type: "poa", membership_id: membership };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("POST", "PATCH"),
      fc.constantFrom(...lists, ...within, ...above, ...Object.values(paths)),
      body,
      async (method, path, fields) => {
        const members = Object.entries(fields).map(([name, json]) => `"${name}":${json}`);
        const text = `{${[...members, JSON.stringify(known).slice(1, -1)].join()}}`;
        expect([201, 200, 400, 404, 409]).toContain((await send(method, path, text)).status);
      },
    ),
    random(300),
  );
  expect(warned.mock.calls).toEqual([]);
  expect((await fetch(`${service.url}/health`)).status).toBe(200);
});

test("one flipped bit in a file of one ledger: the others start and serve, and the service names the damaged one", async () => {
  const dataDir = newFolder();
  const options = { dataDir, ledger: true, timing: quick };
  const before = await start(options);
  const raft = { provider: "quorum", consensus_type: "raft" };
  const [damaged, other] = [await build(before.send, raft), await build(before.send, raft)];
  const placeOf = (service: { url: string }, { environment, node }: typeof damaged) =>
    `${service.url}/runtime/${environment}/${node}`;
  for (const one of [damaged, other]) await result(placeOf(before.service, one), one.credential, "eth_chainId");
  await before.service.close();
  const folder = join(dataDir, "chains", damaged.environment);
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  for (const name of names.filter((one) => /(json|whole|CURRENT|log|ldb|MANIFEST-\d+)$/.test(one))) {
    const file = join(folder, name);
    const whole = readFileSync(file);
    const flipped = Buffer.from(whole);
    flipped[Math.floor(whole.length / 2)]! ^= 1 << (whole.length % 7);
    writeFileSync(file, flipped);
    const warned = jest.spyOn(process, "emitWarning").mockImplementation();
    const { service, send } = await start(options);
    const said = containing(`The ledger ${damaged.environment} is out of order: ${file} is damaged`);
    await until(() => warned.mock.calls.length > 0); // it starts all ledgers by itself
    expect(warned.mock.calls).toEqual([[said, "ConsortiumWarning"]]);
    warned.mockRestore();
    const refusal = { status: 503, body: { errorMessage: said } };
    const place = placeOf(service, damaged);
    expect(await rpc(place, damaged.credential, eth("eth_chainId"))).toMatchObject(refusal);
    expect(await send("GET", `${damaged.paths.node}/status`)).toMatchObject(refusal);
    const opening = await webSocket(place.replace("http", "ws"), damaged.credential);
    expect(opening).toMatchObject({ status: 503, error: said });
    expect(await result(placeOf(service, other), other.credential, "eth_chainId")).toMatch(/^0x/);
    expect((await send("GET", damaged.paths.node)).status).toBe(200);
    expect(readFileSync(file)).toEqual(flipped);
    await service.close();
    writeFileSync(file, whole);
  }
  const { service } = await start(options);
  expect(await result(placeOf(service, damaged), damaged.credential, "eth_chainId")).toMatch(/^0x/);
  await service.close();
  rmSync(folder, { recursive: true });
  const without = await start(options);
  expect((await without.send("GET", `${damaged.paths.node}/status`)).status).toBe(503);
  expect((await without.send("DELETE", damaged.paths.environment)).status).toBe(202);
});
