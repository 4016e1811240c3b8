import type * as Level from "classic-level";
import { setTimeout as wait } from "node:timers/promises";
import { client, newFolder, refused, start } from "../helpers";
import { until } from "../../support/until";
import { Network } from "../targets";
import { pinning } from "../tethered";

/** What the disk does: `hold` lets writes wait, `fail` lets them fail, `slow` lets them take so many milliseconds. */
const disk = { waiting: [] as (() => void)[], hold: false, fail: false, slow: 0, written: "" };
jest.mock("classic-level", () => {
  const real = jest.requireActual<typeof Level>("classic-level");
  function ClassicLevel(dir: string, options: object) {
    const level = new real.ClassicLevel<string, Buffer>(dir, options);
    const batch = level.batch.bind(level) as (all: object[], options: object) => Promise<void>;
    const slowly = async (all: { value?: Buffer }[], given: { sync: boolean }) => {
      if (disk.hold) await new Promise<void>((go) => disk.waiting.push(go));
      if (disk.slow > 0) await wait(disk.slow);
      if (disk.fail) throw new Error("EIO: i/o error");
      await batch(all, given);
      if (given.sync) for (const { value } of all) disk.written += value?.toString() ?? "";
    };
    return Object.assign(level, { batch: slowly });
  }
  return { ...real, ClassicLevel };
});

let dataDir: string;
beforeEach(() => {
  dataDir = newFolder();
  Object.assign(disk, { hold: false, fail: false, slow: 0, waiting: [], written: "" });
});

test("a change is visible to nobody before the disk has it, neither its sender nor readers", async () => {
  const { send } = await start({ dataDir });
  expect((await send("POST", "/consortia", { name: "first" })).status).toBe(201);
  disk.hold = true;
  let heard = 0;
  const asked = [send("POST", "/consortia", { name: "second" })];
  await until(() => disk.waiting.length === 1);
  asked.push(send("GET", "/consortia"));
  for (const one of asked) void one.then(() => heard++);
  await wait(300); // long enough for an answer that does not wait
  expect(heard).toBe(0);
  disk.hold = false;
  disk.waiting.forEach((go) => go());
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([201, 200]);
});

test("changes answer 507 while the disk refuses them", async () => {
  const { service, send } = await start({ dataDir });
  await send("POST", "/consortia", { name: "first" });
  const { id, key } = (await send("POST", "/embedded/api-keys", { name: "ci" })).body as unknown as Record<
    string,
    string
  >;
  disk.fail = true;
  expect(await send("POST", "/consortia", { name: "second" })).toMatchObject(refused(507, "cannot be written to "));
  expect(await send("DELETE", `/embedded/api-keys/${id}`)).toMatchObject(refused(507));
  expect((await client(service.baseUrl, key!)("GET", "/consortia")).body).toMatchObject([{ name: "first" }]);
  disk.fail = false;
  expect((await send("POST", "/consortia", { name: "third" })).status).toBe(201);
  expect((await send("GET", "/consortia")).body).toMatchObject([{ name: "first" }, { name: "third" }]);
});

test.each([
  ["to deploy a contract", 0],
  ["to pin a report", 1],
])("a transaction %s is sent only after the disk has it", async (_what, number) => {
  const network = await new Network().start();
  const found: boolean[] = [];
  const watched = await network.behind(({ method, params }, forward) => {
    if (method === "eth_sendRawTransaction") found.push(disk.written.includes(String(params[0])));
    return forward();
  });
  const { get, post } = await pinning(network, { dataDir }, watched);
  disk.slow = 200;
  expect((await post("/deploy")).status).toBe(200);
  expect((await post("/activate")).text).toBe("true");
  await until(async () => (await get("/reportCount")).text === "1");
  expect(found[number]).toBe(true);
});
