import { readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { startService } from "../../../service/index";
import { built, consortium, serveJson } from "../child";
import { containing, newFolder, start } from "../helpers";

let dataDir: string;
beforeEach(() => (dataDir = newFolder()));

const inUse = () => `The data folder ${dataDir} is in use by another service.`;

test("a second service is refused, until the first one is closed", async () => {
  const first = await start({ dataDir });
  const refusal = { code: "folder-in-use", message: containing(inUse()) };
  await expect(startService({ dataDir })).rejects.toMatchObject(refusal);
  expect((await first.send("GET", "/consortia")).status).toBe(200);
  await first.service.close();
  await start({ dataDir });
});

test("a service that cannot listen releases the folder", async () => {
  const { service } = await start();
  await expect(startService({ dataDir, port: service.port })).rejects.toThrow("port is in use");
  await start({ dataDir });
});

describe("another process", () => {
  beforeAll(built);
  const args = () => ["--data", dataDir, "--no-ledger", "--no-console"];

  test("that was killed holds no lock: one of many gets the folder at once", async () => {
    const first = await serveJson(args());
    first.child.kill("SIGKILL");
    await first.ended;
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => start({ dataDir })));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("that is suspended for a while keeps the folder, and continues", async () => {
    const first = await serveJson(args());
    expect((await first.send("POST", "/consortia", { name: "one" })).status).toBe(201);
    first.child.kill("SIGSTOP");
    const asked = first.send("POST", "/consortia", { name: "two" });
    // as if it had not been there for an hour: no lock has to be renewed
    const hourAgo = Date.now() / 1_000 - 3_600;
    for (const name of readdirSync(dataDir, { recursive: true }))
      utimesSync(join(dataDir, String(name)), hourAgo, hourAgo);
    const second = await consortium(["serve", "--port", "0", ...args()]);
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining(inUse())]);
    first.child.kill("SIGCONT");
    expect((await asked).status).toBe(201);
    await first.stop();
    const { send } = await start({ dataDir });
    expect((await send("GET", "/consortia")).body).toMatchObject([{ name: "one" }, { name: "two" }]);
  });
});
