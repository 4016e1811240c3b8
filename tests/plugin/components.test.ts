import childProcess, { type ChildProcess } from "node:child_process";
import { Client, credentials, Server, status, type UntypedHandleCall } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { ConstructRequest, ConstructResponse } from "@pulumi/pulumi/proto/provider_pb";
import { listen, type Served } from "../../plugin/server";
import { unknown } from "../../provider/core/values";
import { temporary, writeIn } from "../fleet/made";
import { type Props, secret } from "../support/double/wire";
import { listening, plain, Protocol, struct } from "../support/protocol";
import { until } from "../support/until";

/* Components run in a process of their own, which is a script of the test here. */

const engine = "127.0.0.1:1";
const { argv } = process;
const spawned = jest.spyOn(childProcess, "spawn");
let open: (() => void)[];
beforeEach(() => {
  open = [];
  spawned.mockClear();
});
afterEach(() => {
  process.argv = argv;
  for (const { value } of spawned.mock.results) (value as ChildProcess).kill("SIGKILL");
  for (const end of open.splice(0)) end();
});

/** The plugin with the process for components, which answers like this. */
async function world(construct: UntypedHandleCall, script?: string) {
  const host = new Server();
  host.addService(ResourceProviderService, { construct });
  const port = await listening(host);
  process.argv = [
    argv[0]!,
    writeIn(temporary(), "plugin.js", script ?? `console.log(${port}); process.stdin.resume();`),
  ];
  const served = await listen({ engine });
  const plugin = Protocol.at(`127.0.0.1:${served.port}`);
  open.push(
    () => plugin.close(),
    () => served.end(),
    () => host.forceShutdown(),
  );
  const build = async (inputs: Props = {}) => {
    const request = new ConstructRequest().setType("consortium:index:Network").setName("net").setInputs(struct(inputs));
    return (await plugin.call<ConstructResponse>("construct", request)).getUrn();
  };
  return { build, served };
}

/** What the engine does before it closes the connection: its answer. */
const healthOf = ({ port }: Served): Promise<number> =>
  new Promise((resolve) => {
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    open.push(() => client.close());
    const asIs = (bytes: Buffer) => bytes;
    client.makeUnaryRequest("/grpc.health.v1.Health/Check", asIs, asIs, Buffer.alloc(0), (error) =>
      resolve(error!.code),
    );
  });

test("they share one process, which learns the engine's address and which parts are secret", async () => {
  const received: Props[] = [];
  const { build } = await world(((
    { request }: { request: ConstructRequest },
    answer: (error: null, response: ConstructResponse) => void,
  ) => {
    received.push(plain(request.getInputs()));
    answer(null, new ConstructResponse().setUrn(`urn of ${request.getName()}`));
  }) as never);
  expect(await build({ members: ["a"] })).toBe("urn of net");
  expect(await build({ environments: { e: { key: secret("s"), name: "e" } } })).toBe("urn of net");
  expect(received).toEqual([
    { members: ["a"] },
    { environments: { e: { key: "s", name: "e" } }, __secrets: [["environments", "e", "key"]] },
  ]);
  expect(spawned.mock.calls.map(([, args]) => args)).toEqual([[process.argv[1], "components", engine]]);
  expect(spawned.mock.calls[0]![2].env).toMatchObject({ CONSORTIUM_PLUGIN: "true" });
});

test("a definition with unknown parts is refused by their names, and starts nothing", async () => {
  const { build } = await world((() => undefined) as never);
  await expect(build({ members: ["a"], limits: { nodes: unknown }, environments: unknown })).rejects.toMatchObject({
    details: expect.stringMatching(
      /^consortium:index:Network net: write (limits, environments|environments, limits) as a plain value/,
    ) as string,
  });
  expect(spawned).not.toHaveBeenCalled();
});

test("an error of theirs is the plugin's, with its code", async () => {
  const failing = (_: unknown, answer: (error: object) => void) =>
    answer({ code: status.DATA_LOSS, details: "no such region" });
  const { build } = await world(failing as never);
  await expect(build()).rejects.toMatchObject({ code: status.DATA_LOSS, details: "no such region" });
});

test("a process that ends before it serves is an error", async () => {
  const { build } = await world((() => undefined) as never, "process.exit(3);");
  await expect(build()).rejects.toMatchObject({ details: "the process for components ended with 3" });
});

test("when the engine is about to leave, one under way is an error that points to the others", async () => {
  let begun = 0;
  const { build, served } = await world((() => void begun++) as never);
  const building = build().catch((error: unknown) => error);
  await until(() => begun > 0);
  expect(await healthOf(served)).toBe(status.UNIMPLEMENTED);
  expect(await building).toMatchObject({
    details:
      "it is not complete, because the run ended early: the other errors say why. [step-failed: docs/troubleshooting.md#step-failed]",
  });
});
