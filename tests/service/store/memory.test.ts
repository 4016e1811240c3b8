import { built, serveJson } from "../child";
import { build, client, newFolder, objectsIn } from "../helpers";

beforeAll(built);

let dir: string;
beforeEach(() => (dir = newFolder()));
/** The options of each service. */
const options = () => ["--data", dir, "--no-ledger", "--no-console"];

test("one tenant with 500 uploads gets an error, another one works, and the folder starts again, in 300 MB", async () => {
  const env = { NODE_OPTIONS: "--max-old-space-size=300" };
  await (await serveJson([...options(), "--organization", "a", "--organization", "b"], env)).stop();
  const keys: Record<string, string> = {};
  const database = await objectsIn(dir);
  for await (const [, value] of database.entries("organization/", "organization0")) {
    const { fields } = JSON.parse(value.toString()) as { fields: { name: string; apiKey: string } };
    keys[fields.name] = fields.apiKey;
  }
  await database.close();
  const started = async () => {
    const { stop, ready } = await serveJson([...options(), "--organization", "a", "--organization", "b"], env);
    return { greedy: client(ready.baseUrl, keys.a!), modest: client(ready.baseUrl, keys.b!), stop };
  };
  const { greedy, modest, stop } = await started();
  const { paths } = await build(greedy);
  const upload = async (bytes: number) => {
    const body = { org_name: "x".repeat(bytes) };
    const { status } = await greedy("POST", `${paths.consortium}/memberships`, body).catch(() => ({ status: 0 }));
    return status;
  };
  for (const [bytes, expected] of [
    [900_000, [413]],
    [290_000, [201, 403]],
    [60_000, [201, 403]],
  ] as const) {
    const seen = new Set<number>();
    for (let sent = 0; sent < 500; sent += 25)
      for (const status of await Promise.all(Array.from({ length: 25 }, () => upload(bytes)))) seen.add(status);
    expect([bytes, [...seen].sort()]).toEqual([bytes, expected]);
  }
  const { consortium: theirs } = await build(modest);
  await stop();
  const again = await started();
  expect((await again.modest("GET", `/consortia/${theirs}`)).status).toBe(200);
  expect((await again.modest("POST", "/consortia", { name: "more" })).status).toBe(201);
  expect((await again.greedy("GET", `${paths.consortium}/memberships`)).body.length).toBeGreaterThan(50);
  await again.stop();
});
