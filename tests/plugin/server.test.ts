import { Sessions } from "../../provider/pulumi/sessions";
import { connect } from "node:net";
import { Server, status } from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { type LogRequest } from "@pulumi/pulumi/proto/engine_pb";
import { type PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import * as proto from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { version } from "../../package.json";
import { listen, type Served, type Serving } from "../../plugin/server";
import { serveShared } from "../../plugin/shared";
import { containing } from "../service/helpers";
import { listening, Protocol } from "../support/protocol";
import { setEnvironment, start } from "../support/service";
import { until } from "../support/until";

/* A provider that listens: for one engine, and for the stacks of a fleet. */

const service = jest.fn(() => jest.requireActual<object>("../../plugin/service"));
jest.doMock("../../plugin/service", service);

const open: (() => void)[] = [];
afterEach(() => {
  for (const end of open.splice(0)) end();
  jest.restoreAllMocks();
});

const clientOf = (port: number): Protocol => {
  const plugin = Protocol.at(`127.0.0.1:${port}`);
  open.push(() => plugin.close());
  return plugin;
};
async function serving(options: Serving = {}): Promise<{ served: Served; plugin: Protocol }> {
  const served = await listen(options);
  open.push(() => served.end());
  return { served, plugin: clientOf(served.port) };
}

/** An engine, and the lines that it has shown. */
async function engine() {
  const lines: string[] = [];
  const server = new Server();
  server.addService(EngineService, {
    log: ({ request }: { request: LogRequest }, answer: (error: null, done: Empty) => void) => {
      lines.push(request.getMessage());
      answer(null, new Empty());
    },
  });
  open.push(() => server.forceShutdown());
  return { lines, address: `127.0.0.1:${await listening(server)}` };
}
const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => (socket.destroy(), resolve(true)));
    socket.on("error", () => resolve(false));
  });
const handshake = (plugin: Protocol, address: string) =>
  plugin.call<proto.ProviderHandshakeResponse>(
    "handshake",
    new proto.ProviderHandshakeRequest().setEngineAddress(address),
  );
/** Makes it show a line. */
const warn = async (plugin: Protocol) => {
  const ledger = { consortiumId: "c", name: "e", provider: "quorum", consensusType: "raft" };
  await plugin.diff("Environment", "e1", { ...ledger, __kept: { version: 2 } }, { ...ledger, consensusType: "ibft" });
};
const lost = [containing("DESTROYS ITS LEDGER")];

test("what it is can be asked without loading anything, and what it does not answer is refused", async () => {
  const { served, plugin } = await serving();
  expect((await plugin.call<PluginInfo>("getPluginInfo", new Empty())).getVersion()).toBe(version);
  const schema = (await plugin.call<proto.GetSchemaResponse>("getSchema", new proto.GetSchemaRequest())).getSchema();
  expect(JSON.parse(schema)).toMatchObject({ name: "consortium", version });
  expect((await plugin.handshake()).toObject()).toMatchObject({
    acceptSecrets: true,
    supportsAutonamingConfiguration: true,
    acceptResources: false,
  });
  const unanswered = { call: new proto.CallRequest(), parameterize: new proto.ParameterizeRequest() };
  for (const [name, request] of Object.entries(unanswered))
    await expect(plugin.call(name as keyof typeof unanswered, request)).rejects.toMatchObject({
      code: status.UNIMPLEMENTED,
    });
  expect(service).not.toHaveBeenCalled();
  served.left();
  served.end();
  expect(await isOpen(served.port)).toBe(false);
});

test("lines go to the engine that it was started by, or that shook hands last", async () => {
  await start();
  const [first, second, third] = [await engine(), await engine(), await engine()];
  const started = await serving({ engine: first.address });
  await started.plugin.configure();
  await warn(started.plugin);
  expect(first.lines).toEqual(lost);
  expect(service).toHaveBeenCalledTimes(1);
  await handshake(started.plugin, second.address);
  await warn(started.plugin);
  expect([first.lines, second.lines]).toEqual([lost, lost]);
  const { plugin } = await serving();
  await handshake(plugin, third.address);
  await plugin.configure();
  await warn(plugin);
  expect([third.lines, second.lines]).toEqual([lost, lost]);
});

test("an environment of its own takes the place of the process's", async () => {
  const { service } = await start();
  const environment = { CONSORTIUM_API_KEY: service.apiKey, CONSORTIUM_BASE_URL: service.baseUrl };
  setEnvironment({ CONSORTIUM_API_KEY: undefined });
  const [own, none] = [(await serving({ environment })).plugin, (await serving()).plugin];
  for (const plugin of [own, none]) await plugin.configure();
  expect((await own.invoke("getConsortia", {})).failures).toEqual([]);
  await expect(none.invoke("getConsortia", {})).rejects.toMatchObject({ details: containing("No API key is set.") });
});

test("a fleet's stacks each have a port and an environment, and end alone; all end with the fleet, and not with Ctrl-C", async () => {
  const { service } = await start();
  const sent: { served: string; port?: number }[] = [];
  const ended = jest.spyOn(Sessions.prototype, "left");
  Object.assign(process, { send: (answer: (typeof sent)[number]) => sent.push(answer) });
  const [left, exit] = [jest.fn(), jest.spyOn(process, "exit").mockReturnValue(undefined as never)];
  serveShared(left);
  const environment = { CONSORTIUM_API_KEY: service.apiKey, CONSORTIUM_BASE_URL: service.baseUrl };
  const plugins: Record<string, Protocol> = {};
  for (const [stack, own] of Object.entries({ a: environment, b: {}, c: environment })) {
    process.emit("message", { serve: stack, environment: own }, undefined);
    await until(() => sent.some(({ served }) => served === stack));
    plugins[stack] = clientOf(sent.find(({ served }) => served === stack)!.port!);
    await plugins[stack].configure();
  }
  const { a, b, c } = plugins as Record<"a" | "b" | "c", Protocol>;
  const ask = (plugin: Protocol) => plugin.invoke("getConsortia", {});
  await ask(a);
  await expect(ask(b)).rejects.toMatchObject({ details: containing("No API key is set.") });
  // Of a stack whose Pulumi was killed, the log of creates stays.
  for (const [stack, whole] of Object.entries({ a: false, b: true })) {
    const many = sent.length;
    process.emit("message", { end: stack, whole }, undefined);
    await until(() => sent.length > many);
    expect([sent.at(-1), ended.mock.calls.length]).toEqual([{ served: stack }, whole ? 1 : 0]);
  }
  await expect(ask(a)).rejects.toMatchObject({ details: containing("the run has ended.") });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) expect(process.emit(signal)).toBe(true);
  await ask(c);
  expect([left.mock.calls.length, exit.mock.calls.length]).toEqual([0, 0]);
  process.emit("disconnect");
  await until(() => exit.mock.calls.length > 0);
  expect([left.mock.calls, exit.mock.calls]).toEqual([[[]], [[1]]]);
  await expect(ask(c)).rejects.toMatchObject({ details: containing("the run has ended.") });
  for (const { port } of sent) if (port !== undefined) expect(await isOpen(port)).toBe(false);
});
