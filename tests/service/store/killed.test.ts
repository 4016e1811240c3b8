import { built, serveJson } from "../child";
import { client, newFolder, start } from "../helpers";

let dataDir: string;
beforeEach(() => (dataDir = newFolder()));

describe("a killed process", () => {
  beforeAll(built);

  test("leaves a lock that one of many takes", async () => {
    const first = await serveJson(["--data", dataDir]);
    first.child.kill("SIGKILL");
    await first.ended;
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => serveJson(["--data", dataDir])));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  }, 60_000);

  test("has lost nothing that it acknowledged", async () => {
    const { child, ended, ready, key } = await serveJson(["--data", dataDir, "--limit-consortia", "100000"]);
    const send = client(ready.baseUrl, key);
    const acknowledged: string[] = [];
    const work = async (worker: number) => {
      for (let index = 0; ; index++) {
        const { status, body } = await send("POST", "/consortia", { name: `${worker}-${index}` });
        if (status === 201) acknowledged.push(body._id);
        if (acknowledged.length === 100) child.kill("SIGKILL");
      }
    };
    await Promise.allSettled([0, 1, 2, 3].map(work));
    expect(await ended).toEqual({ code: null, signal: "SIGKILL" });
    expect(acknowledged.length).toBeGreaterThanOrEqual(100);

    const after = await start({ dataDir });
    expect(after.service.apiKey).toBe(key);
    const kept = new Set(after.service.store.consortia.list().map(({ id }) => id));
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  }, 30_000);
});
