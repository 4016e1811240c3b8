import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Journal } from "../../../service/store/journal";
import { built, consortium, serveJson } from "../child";
import { build, client, containing, newFolder } from "../helpers";

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
    const file = join(dir, "state.jsonl");
    const format = { format: "consortium-service", version: 2 };
    const times = { createdAt: 1, changedAt: 1, revision: 0 };
    const place = { kind: "consortium", parent: organization, organization, state: "setup", ...times };
    const journal = Journal.open(file, format, () => undefined);
    for (let number = 0; number < 1_600; number++)
      journal.add([{ ...place, id: idOf(number), fields: { name: "a", description: "x".repeat(65_536) } }]);
    journal.close();
  }

  test("that needs more memory than there is says so, and how to start it", async () => {
    await written((number) => `c${number}`);
    const { code, stderr } = await consortium(["serve", "--port", "0", ...options()], env);
    expect([code, stderr]).toEqual([1, containing("state.jsonl is too large for this process: its objects take")]);
    expect(stderr).toContain("NODE_OPTIONS=--max-old-space-size=");
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test("of the same size opens, if only outdated versions make it large", async () => {
    await written(() => "c0");
    const { send } = await serveJson(options(), env);
    expect((await send("GET", "/consortia")).body).toHaveLength(1);
  });
});

test("one tenant with 500 uploads is told that it has too much, another one works, and the folder starts again, in 300 MB", async () => {
  const env = { NODE_OPTIONS: "--max-old-space-size=300" };
  const started = async () => {
    const { stop, ready } = await serveJson([...options(), "--organization", "a", "--organization", "b"], env);
    const keys = JSON.parse(readFileSync(join(dir, "api-keys.json"), "utf8")) as Record<string, string>;
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
