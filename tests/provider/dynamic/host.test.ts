import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { runtime } from "@pulumi/pulumi";
import { isUnknown } from "../../../provider/core/values";
import { built } from "../../service/child";

/* What rests on the inside of Pulumi's host, tried on the host itself: a release that is built differently fails here first. */

jest.setTimeout(60_000);
beforeAll(built);

interface Call {
  (request: unknown, callback: (error: GrpcError | null, answer?: unknown) => void): void;
}
interface GrpcError {
  details: string;
  metadata: { get(name: string): Buffer[] };
}
/* eslint-disable @typescript-eslint/no-require-imports -- generated code without types */
const { credentials } = require("@grpc/grpc-js") as { credentials: { createInsecure(): unknown } };
const { ResourceProviderClient } = require("@pulumi/pulumi/proto/provider_grpc_pb") as {
  ResourceProviderClient: new (
    address: string,
    how: unknown,
  ) => Record<"create" | "check" | "cancel", Call> & { close(): void };
};
const { CheckRequest, CreateRequest } = require("@pulumi/pulumi/proto/provider_pb") as Record<
  "CheckRequest" | "CreateRequest",
  new () => Record<"setOlds" | "setNews" | "setProperties", (value: unknown) => void>
>;
const { Empty } = require("google-protobuf/google/protobuf/empty_pb") as { Empty: new () => unknown };
const { Struct } = require("google-protobuf/google/protobuf/struct_pb") as {
  Struct: { fromJavaScript(value: object): unknown };
};
/* eslint-enable @typescript-eslint/no-require-imports */

const compiled = (name: string): string => JSON.stringify(join(__dirname, `../../../dist/provider/${name}.js`));
const handler = `exports.handler = () => {
  const { notReady, refusal, onCancel } = require(${compiled("dynamic/host")});
  const { engineAddress, onEngineGone } = require(${compiled("core/engine")});
  return {
    check: async () => { throw refusal(new Error("refused")); },
    create: async () => {
      onCancel(() => console.log("cancelled"));
      onEngineGone(engineAddress(), () => { console.log("engine gone"); process.exit(3); });
      throw await notReady(Object.assign(new Error("still starting"), { id: "n1", state: { name: "acme" } }), "the provider");
    },
  };
};`;

async function host(engine: Server) {
  const { port: enginePort } = engine.address() as { port: number };
  const file = require.resolve("@pulumi/pulumi/cmd/dynamic-provider/index.js");
  const child = spawn(process.execPath, [file, `127.0.0.1:${enginePort}`], { stdio: ["ignore", "pipe", "pipe"] });
  const printed: string[] = [];
  const errors: string[] = [];
  createInterface(child.stderr).on("line", (line) => errors.push(line));
  const lines = createInterface(child.stdout);
  const [port] = (await once(lines, "line")) as [string];
  lines.on("line", (line) => printed.push(line));
  const client = new ResourceProviderClient(`127.0.0.1:${port}`, credentials.createInsecure());
  const call = (verb: "create" | "check" | "cancel", request: unknown): Promise<GrpcError | null> =>
    new Promise((resolve) => client[verb](request, resolve));
  return { child, printed, errors, call, client };
}

const properties = (): unknown => Struct.fromJavaScript({ __provider: handler });

test("errors, cancellation and the end of the engine, as the installed Pulumi has them", async () => {
  const engine = createServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1");
  await once(engine, "listening");
  const { child, printed, errors, call, client } = await host(engine);
  const sockets: { destroy(): void }[] = [];
  engine.on("connection", (socket) => sockets.push(socket));
  try {
    const check = new CheckRequest();
    check.setOlds(properties());
    check.setNews(properties());
    const create = new CreateRequest();
    create.setProperties(properties());

    expect((await call("check", check))?.details).toBe("refused");
    const notReady = await call("create", create);
    expect(notReady?.details).toBe("still starting");
    const details = notReady!.metadata.get("grpc-status-details-bin").join("");
    for (const kept of ["n1", "name", "acme", "__provider", "the provider"]) expect(details).toContain(kept);
    expect(printed).toEqual(["still starting"]);

    await call("cancel", new Empty());
    const over = once(child, "exit");
    engine.close();
    for (const socket of sockets) socket.destroy();
    expect(await over).toEqual([3, null]);
    expect(printed).toEqual(["still starting", "cancelled", "engine gone"]);
    expect(errors).toEqual([]); // the host prints errors of check a second time: that line is dropped
  } finally {
    client.close();
    child.kill();
    engine.close();
  }
});

test("a host that is built differently costs one warning, and nothing else", async () => {
  const engine = createServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1");
  await once(engine, "listening");
  const { port } = engine.address() as { port: number };
  const text = `
    const { hostProcess } = require(${compiled("dynamic/host")});
    const aborted = () => hostProcess.sessions.current().client && "goes on";
    console.log(aborted(), aborted());
    process.exit(0);`;
  const env = { ...process.env, CONSORTIUM_API_KEY: "k", CONSORTIUM_BASE_URL: "http://127.0.0.1:1/api/v1" };
  const child = spawn(process.execPath, ["-e", text, `127.0.0.1:${port}`], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const printed: string[] = [];
  createInterface(child.stdout).on("line", (line) => printed.push(line));
  expect(await once(child, "close")).toEqual([0, null]);
  engine.close();
  expect(printed).toEqual([expect.stringMatching(/^WARNING: .*newer.*press Ctrl-C again/), "goes on goes on"]);
});

test("an unknown value is known by Pulumi's marker", () => {
  expect(isUnknown(runtime.unknownValue)).toBe(true);
  expect(isUnknown({ a: [{ b: runtime.unknownValue }] })).toBe(true);
  expect(isUnknown({ a: ["text", 1, null] })).toBe(false);
});
