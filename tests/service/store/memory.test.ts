import { built, consortium, serveJson } from "../child";
import { build, client, containing, newFolder, objectsIn } from "../helpers";

beforeAll(built);

let dir: string;
beforeEach(() => (dir = newFolder()));
/** The options of each service. */
const options = () => ["--data", dir, "--no-ledger", "--no-console"];

describe("a folder", () => {
  const env = { NODE_OPTIONS: "--max-old-space-size=64" };

  /** Writes the state of a service with so many large consortia, of the organization of that folder. */
  async function written(idOf: (number: number) => string) {
    const first = await serveJson(options());
    const { id: organization } = first.ready.organizations[0]!;
    await first.stop();
    const times = { createdAt: 1, changedAt: 1, revision: 0 };
    const place = { kind: "consortium", parent: organization, organization, state: "setup", ...times };
    const database = await objectsIn(dir);
    const fields = { name: "a", description: "x".repeat(65_536) };
    for (let number = 0; number < 1_600; number++)
      await database.write(
        [[`consortium/${idOf(number)}`, JSON.stringify({ ...place, id: idOf(number), fields })]],
        false,
      );
    await database.close();
  }

  test("that needs too much memory causes an error that says how to start it", async () => {
    await written((number) => `c${number}`);
    const { code, stderr } = await consortium(["serve", "--port", "0", ...options()], env);
    expect([code, stderr]).toEqual([1, containing("objects is too large for this process: its objects take")]);
    expect(stderr).toContain("NODE_OPTIONS=--max-old-space-size=");
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test("of the same size opens, if only outdated versions make it large", async () => {
    await written(() => "c0");
    const { send } = await serveJson(options(), env);
    expect((await send("GET", "/consortia")).body).toHaveLength(1);
  });
});

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
