import { SteadyClock } from "../../../service/storage/steady-clock";
import { Store } from "../../../service/store/store";
import { build, client, populated, refused } from "../helpers";

const configurations = ({ paths }: { paths: { environment: string } }) => `${paths.environment}/configurations`;
const holding = (membership_id: string, bytes: number) => {
  const filler = { a: "" };
  return { type: "t", membership_id, details: { a: "x".repeat(bytes - JSON.stringify(filler).length) } };
};

test("an organization has as many objects as its quota allows, whatever others have; a deletion makes room", async () => {
  const world = await populated({ limits: { objects: 6 }, timing: { environmentStart: 0 } });
  const { service, send } = world;
  const other = client(service.baseUrl, service.addOrganization("other").apiKey);
  const { paths, membership } = world;
  const zone = { region: "r", cloud: "c" };
  const zones = `${paths.consortium}/zones`;
  const made = await send("POST", zones, zone);
  expect(made.status).toBe(201);
  const said = "The organization local may have 6 objects, and has 6. Delete some, or ask whoever runs the service";
  const refusal = refused(403, said);
  const attempts: [string, string, object][] = [
    ["POST", zones, zone],
    ["POST", configurations(world), holding(membership, 100)],
    ["POST", "/embedded/tethers", {}],
    ["POST", "/embedded/api-keys", { name: "k" }],
  ];
  for (const [method, path, body] of attempts) expect(await send(method, path, body)).toMatchObject(refusal);
  expect((await send("PATCH", paths.membership, { org_name: "another" })).status).toBe(200);
  await build(other);
  expect((await send("DELETE", `${zones}/${made.body._id}`)).status).toBe(204);
  expect((await send("POST", zones, zone)).status).toBe(201);
});

test("its objects may take as many bytes as its quota allows; a change that shrinks is never refused", async () => {
  const { send, ...world } = await populated({ limits: { bytes: 20_000 } });
  const list = configurations(world);
  const another = () => send("POST", list, holding(world.membership, 6_000));
  const [, second] = [(await another()).body, (await another()).body];
  const said = /may take 20000 bytes\. They take \d{5}, and this needs \d{4} more\. Delete .*--limit-bytes 40000\.$/;
  const refusal = refused(403, said);
  expect(await another()).toMatchObject(refusal);
  const change = (bytes: number) =>
    send("PATCH", `${list}/${second._id}`, { details: holding(world.membership, bytes).details });
  expect(await change(12_000)).toMatchObject(refusal);
  expect((await change(100)).status).toBe(200);
  expect((await another()).status).toBe(201);
});

test("details and unknown fields have at most 64 kB of JSON", async () => {
  const { send, ...world } = await populated();
  const list = configurations(world);
  const most = holding(world.membership, 65_536);
  const made = await send("POST", list, most);
  expect(made.status).toBe(201);
  const said = "details: may have 65536 bytes as JSON, and has 65537";
  const refusal = refused(400, said);
  const over = holding(world.membership, 65_537);
  expect(await send("POST", list, over)).toMatchObject(refusal);
  expect(await send("PATCH", `${list}/${made.body._id}`, { details: over.details })).toMatchObject(refusal);
  const wide = { ...most, details: { a: `\u00e4${most.details.a.slice(1)}` } };
  expect(await send("POST", list, wide)).toMatchObject(refusal);
  const unknown = await send("POST", "/consortia", { name: "a", other: most.details });
  expect(unknown).toMatchObject(refused(400, "has no field for may have 65536"));
});

const draft = { kind: "consortium", parent: "o", organization: "o", due: undefined } as const;

describe("an exceeded quota", () => {
  const large = { name: "a", description: "x".repeat(2_000) };
  const limits = { consortia: 9, environments: 9, nodes: 9, objects: 1, bytes: 1_000 };

  test("refuses changes that grow, but none that shrink", () => {
    const store = new Store(new SteadyClock(Date.now));
    const one = store.create({ ...draft, fields: large }, { ...limits, bytes: 10_000 });
    const change = (bytes: number) =>
      store.change(one, { fields: { name: "a", description: "x".repeat(bytes) } }, limits);
    expect(() => change(2_001)).toThrow("may take 1000 bytes");
    expect(change(1_500).revision).toBe(1);
    expect(() => store.create({ ...draft, fields: large }, limits)).toThrow("may have 1 objects, and has 1");
  });
});

describe("old versions", () => {
  let now = 0;
  const open = () => new Store(new SteadyClock(() => ++now));
  const nameAt = (store: Store, at: number) => store.listed("consortium", "o", at).map(({ fields }) => fields.name);

  test("are kept while there is room, however many", () => {
    const store = open();
    const first = store.create({ ...draft, fields: { name: "0" } });
    for (let version = 1; version <= 100; version++) store.setFields("consortium", first.id, { name: `${version}` });
    expect(nameAt(store, first.createdAt)).toEqual(["0"]);
  });

  test("and deleted objects are kept up to a number, the latest ones", () => {
    const store = open();
    const kept = store.create({ ...draft, fields: { name: "kept" } });
    const changing = store.create({ ...draft, fields: { name: "0" } });
    const times = [changing.createdAt];
    for (let version = 1; version <= 200; version++)
      times.push(store.setFields("consortium", changing.id, { name: `${version}` }).changedAt);
    const remembered = times.filter((at) => nameAt(store, at).length === 2);
    expect(remembered).toEqual(times.slice(-128));
    const gone = Array.from({ length: 1_030 }, () => store.create({ ...draft, fields: { name: "d" } }));
    for (const one of gone) store.remove(one);
    expect(nameAt(store, gone.at(-1)!.createdAt).filter((name) => name === "d")).toHaveLength(1_024);
    expect(store.children("consortium", "o").map(({ fields }) => fields.name)).toEqual(["kept", "200"]);
    expect(store.usedBy("o")).toEqual({ objects: 2, bytes: expect.any(Number) as number });
    expect(kept.fields.name).toBe("kept");
  });
});
