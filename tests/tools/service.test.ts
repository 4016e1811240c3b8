import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { isAlive } from "../../tools/lib/processes.mjs";
import { recorded, startService, stopService } from "../../tools/local/service.mjs";
import { Sandbox } from "./sandbox";

/** Keeps the command line's promises, and no more. */
const fakeService = `
  const { createServer } = require("node:http");
  const { mkdirSync, writeFileSync } = require("node:fs");
  const after = (flag) => process.argv[process.argv.indexOf(flag) + 1];
  const data = after("--data");
  mkdirSync(data, { recursive: true });
  writeFileSync(data + "/api-key", "sesame\\n");
  const server = createServer((request, response) => {
    response.statusCode = request.headers.authorization === "Bearer sesame" ? 200 : 401;
    response.end("[]");
  });
  server.listen(Number(after("--port")), "127.0.0.1", () => {
    const { port } = server.address();
    const baseUrl = "http://127.0.0.1:" + port + "/api/v1";
    console.log(JSON.stringify({ port, baseUrl, apiKeyFile: data + "/api-key" }));
  });`;

let sandbox: Sandbox;
let program: string;
let strangers: ChildProcess[] = [];

beforeEach(() => {
  sandbox = new Sandbox();
  mkdirSync(sandbox.path(".consortium"));
  const port = 20_000 + (process.pid % 10_000); // outside of those that the system hands out
  writeFileSync(sandbox.path(".consortium/service.json"), JSON.stringify({ port })); // not the usual one, which may be in use
  program = sandbox.path("serve.cjs");
  writeFileSync(program, fakeService);
  jest.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
  await stopService(sandbox.folder);
  strangers.forEach((child) => child.kill("SIGKILL"));
  strangers = [];
  jest.restoreAllMocks();
});

const start = () => startService(sandbox.folder, "quickstart", program);

function stranger(...args: string[]): number {
  const child = spawn(process.execPath, ["--eval", "setTimeout(() => {}, 60_000)", ...args]);
  strangers.push(child);
  return child.pid!;
}

test("the port is kept over a stop, which waits until it is gone; it changes when something else has it", async () => {
  expect(await stopService(sandbox.folder)).toBe(false);
  const { port, pid } = await start();
  expect(await stopService(sandbox.folder)).toBe(true);
  expect(isAlive(pid)).toBe(false);
  expect(recorded(sandbox.folder)).toEqual({ port });
  expect((await start()).port).toBe(port);
  await stopService(sandbox.folder);
  const other = createServer().listen(port, "127.0.0.1");
  await once(other, "listening");
  const moved = await start();
  expect(moved.port).not.toBe(port);
  expect(recorded(sandbox.folder)).toEqual(moved);
  other.close();
});

describe("start", () => {
  test("twice at once starts one, which is found from then on", async () => {
    const [one, other] = await Promise.all([start(), start()]);
    expect([other, await start()]).toEqual([one, one]);
  });

  test("takes the place of one that runs other code", async () => {
    const running = await start();
    mkdirSync(sandbox.path("service/dist"), { recursive: true });
    writeFileSync(sandbox.path("service/dist/.tsbuildinfo"), "new");
    const next = await start();
    expect(next).toMatchObject({ port: running.port });
    expect(next.pid).not.toBe(running.pid);
    expect(isAlive(running.pid)).toBe(false);
  });

  test("leaves a stranger alone that has got the old number", async () => {
    const running = await start();
    await stopService(sandbox.folder);
    const pid = stranger();
    writeFileSync(sandbox.path(".consortium/service.json"), JSON.stringify({ ...running, pid }));
    expect((await start()).pid).not.toBe(pid);
    expect(isAlive(pid)).toBe(true);
  });

  test("that fails shows the end of the log", async () => {
    writeFileSync(program, "throw new Error('the folder is in use')");
    await expect(start()).rejects.toThrow(
      /did not start. The last lines of .*service\.log are:[^]*the folder is in use/,
    );
  });
});

describe("stop", () => {
  test("ends one that does not listen to SIGTERM", async () => {
    writeFileSync(program, `process.on("SIGTERM", () => {});${fakeService}`);
    const { pid } = await start();
    await stopService(sandbox.folder, 200);
    expect(isAlive(pid)).toBe(false);
  });

  test("does not signal a stranger", async () => {
    const running = await start();
    const pid = stranger("serve");
    writeFileSync(sandbox.path(".consortium/service.json"), JSON.stringify({ ...running, pid }));
    expect(await stopService(sandbox.folder)).toBe(false);
    expect(isAlive(pid)).toBe(true);
    process.kill(running.pid);
  });
});
