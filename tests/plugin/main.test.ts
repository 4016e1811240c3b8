import { once } from "node:events";
import { readdirSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Server } from "@grpc/grpc-js";
import { version } from "../../package.json";
import { Protocol } from "../support/protocol";
import { start } from "../support/service";
import { until } from "../support/until";

/* What the plugin's process does, in this one. (As a file of its own: tests/tools/plugin.test.ts.) */

const { argv } = process;
const flushCompileCache = jest.fn();
const [exit, kill] = [jest.fn(), jest.fn()];
Object.assign(process, { exit, kill }); // for good: as long as the engine is gone, it tries to end
/** Node.js 22.10 or newer. */
const node = { ...jest.requireActual<object>("node:module"), flushCompileCache: flushCompileCache as unknown };
let printed: string;
const bound: Server[] = [];
beforeEach(() => {
  printed = "";
  jest.resetModules();
  jest.clearAllMocks();
  node.flushCompileCache = flushCompileCache;
  jest.doMock("node:module", () => node);
  jest.spyOn(process.stdout, "write").mockImplementation((text) => ((printed += String(text)), true));
});
afterEach(() => {
  jest.restoreAllMocks();
  for (const server of bound.splice(0)) server.forceShutdown();
  process.argv = argv;
  process.removeAllListeners("SIGINT");
});

const run = async (...args: string[]): Promise<void> => {
  process.argv = [...argv.slice(0, 2), ...args];
  const { Server } = await import("@grpc/grpc-js"); // the plugin's own
  const binding = jest.spyOn(Server.prototype, "bindAsync");
  await import("../../plugin/main");
  bound.push(...(binding.mock.contexts as Server[]));
};
const files = () =>
  readdirSync(process.env.XDG_STATE_HOME!, { recursive: true }).filter((name) => String(name).endsWith(".jsonl"));

test.each([true, false])(
  "it serves at the port that it prints; the interrupt after a run ends it, and what is left is put in order (a Node.js that keeps compiled code: %s)",
  async (keeps) => {
    await start();
    if (!keeps) node.flushCompileCache = undefined;
    await run();
    await until(() => printed !== "");
    expect(printed).toMatch(/^\d+\n$/);
    const plugin = Protocol.at(`127.0.0.1:${printed.trim()}`);
    await plugin.configure();
    await plugin.create("Consortium", { name: "c" });
    plugin.close();
    expect([files().length, flushCompileCache.mock.calls.length]).toEqual([1, 0]);
    process.emit("SIGINT");
    expect([files().length, flushCompileCache.mock.calls.length]).toEqual([0, keeps ? 1 : 0]);
    expect(kill.mock.calls).toEqual([[process.pid, "SIGINT"]]);
  },
);

test("it ends once the engine is gone", async () => {
  const sockets: Socket[] = [];
  const engine = createServer((socket) => void sockets.push(socket)).listen(0, "127.0.0.1");
  await once(engine, "listening");
  await run(`127.0.0.1:${(engine.address() as AddressInfo).port}`);
  await until(() => printed !== "");
  expect(exit).not.toHaveBeenCalled();
  engine.close();
  await until(() => (sockets.forEach((socket) => socket.destroy()), exit.mock.calls.length > 0));
  expect(exit).toHaveBeenCalledWith(1);
});

test("--version prints it, and serves nothing", async () => {
  await run("--version");
  expect(printed).toBe(`${version}\n`);
});

test.each([
  ["components", "component-host", "serveComponents", ["127.0.0.1:1"], [["127.0.0.1:1"], expect.any(Function)]],
  ["shared", "shared", "serveShared", [], [expect.any(Function)]],
])("%s is another process of the same file", async (argument, module, name, args, given) => {
  const serve = jest.fn<undefined, [...unknown[], () => void]>();
  jest.doMock(`../../plugin/${module}`, () => ({ [name]: serve }));
  await run(argument, ...args);
  await until(() => serve.mock.calls.length > 0);
  jest.dontMock(`../../plugin/${module}`);
  expect(serve.mock.calls).toEqual([given]);
  (serve.mock.calls[0]!.at(-1) as () => void)();
  expect(flushCompileCache).toHaveBeenCalledTimes(1);
  expect(printed).toBe("");
});
