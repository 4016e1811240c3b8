import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { runtime } from "@pulumi/pulumi";
import { isUnknown } from "../../../provider/core/values";
import { built } from "../../service/child";
import { Protocol } from "../../support/protocol";

/* The parts that depend on internals of Pulumi's host, run on the host itself: a release that is built differently fails here first. */

beforeAll(built);

const compiled = (name: string): string => JSON.stringify(join(__dirname, `../../../dist/provider/${name}.js`));
const handler = `exports.handler = () => {
  const { notReady, refusal, onCancel } = require(${compiled("dynamic/host")});
  const { engineAddress, onEngineGone } = require(${compiled("pulumi/engine")});
  return {
    check: async () => { throw refusal(new Error("refused")); },
    create: async () => {
      onCancel(() => console.log("cancelled"));
      onEngineGone(engineAddress(), () => { console.log("engine gone"); process.exit(3); });
      throw notReady(Object.assign(new Error("still starting"), { id: "n1", state: { name: "acme" } }), "the provider");
    },
  };
};`;

/** Stands for the engine: hosts end with their connection to it. */
async function engine() {
  const server = createServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const sockets: Socket[] = [];
  server.on("connection", (socket) => sockets.push(socket));
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

test("errors, cancellation and the end of the engine, as the installed Pulumi has them", async () => {
  const { address, close } = await engine();
  const file = require.resolve("@pulumi/pulumi/cmd/dynamic-provider/index.js");
  const child = spawn(process.execPath, [file, address], { stdio: ["ignore", "pipe", "pipe"] });
  const [printed, errors]: [string[], string[]] = [[], []];
  createInterface(child.stderr).on("line", (line) => errors.push(line));
  const lines = createInterface(child.stdout);
  const [port] = (await once(lines, "line")) as [string];
  lines.on("line", (line) => printed.push(line));
  const client = Protocol.at(`127.0.0.1:${port}`);
  const properties = { __provider: handler };
  try {
    await expect(client.check("Node", properties, properties)).rejects.toMatchObject({ details: "refused" });
    await expect(client.create("Node", properties)).rejects.toMatchObject({
      details: "still starting",
      kept: { id: "n1", properties: { name: "acme", __provider: "the provider" }, reasons: ["still starting"] },
    });
    await client.cancel();
    const over = once(child, "exit");
    close();
    expect(await over).toEqual([3, null]);
    expect(printed).toEqual(["cancelled", "engine gone"]);
    expect(errors).toEqual([]); // the host prints errors of check a second time: that line is dropped
  } finally {
    client.close();
    child.kill();
    close();
  }
});

test("a host that is built differently causes one warning, and nothing else", async () => {
  const { address, close } = await engine();
  const text = `
    const { hostProcess } = require(${compiled("dynamic/host")});
    const aborted = () => hostProcess.sessions.current().client && "goes on";
    console.log(aborted(), aborted());
    process.exit(0);`;
  const env = { ...process.env, CONSORTIUM_API_KEY: "k", CONSORTIUM_BASE_URL: "http://127.0.0.1:1/api/v1" };
  const child = spawn(process.execPath, ["-e", text, address], { env, stdio: ["ignore", "pipe", "inherit"] });
  const printed: string[] = [];
  createInterface(child.stdout).on("line", (line) => printed.push(line));
  expect(await once(child, "close")).toEqual([0, null]);
  close();
  expect(printed).toEqual([expect.stringMatching(/^WARNING: .*newer.*press Ctrl-C again/), "goes on goes on"]);
});

test("an unknown value is known by Pulumi's marker", () => {
  expect(isUnknown(runtime.unknownValue)).toBe(true);
  expect(isUnknown({ a: [{ b: runtime.unknownValue }] })).toBe(true);
  expect(isUnknown({ a: ["text", 1, null] })).toBe(false);
});
