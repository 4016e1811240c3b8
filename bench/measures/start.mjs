// @ts-check
/** How soon a provider process listens, and has checked its first resource: the plugin's beside that of dynamic resources. */
import { credentials } from "@grpc/grpc-js";
import grpc from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import proto from "@pulumi/pulumi/proto/provider_pb.js";
import wellKnown from "google-protobuf/google/protobuf/struct_pb.js";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { bundle, root } from "../../tools/lib/prepare.mjs";
import { log } from "../../tools/lib/terminal.mjs";
import { bounded, median, seconds, table } from "../lib/report.mjs";
import { inTurn } from "../lib/previews.mjs";
import { treeOf } from "../lib/lab.mjs";

const most = 0.5;
const usualRounds = 15;

/** @typedef {{ title: string, command: string, type: string, inputs: Record<string, string> }} Side */
/** @typedef {{ port: number, checked: number, memory: number }} Started milliseconds since it was started; bytes */

/** @type {import("../lib/stack.mjs").Measure} */
export const start = async ({ cli, options = {} }) => {
  await bundle();
  const code = 'exports.handler=()=>require("pulumi-consortium/runtime").consortium';
  /** @type {[Side, Side]} */
  const sides = [
    {
      title: "the plugin",
      type: "consortium:index:Consortium",
      command: join(root, "plugin/pulumi-resource-consortium"),
      inputs: { name: "a" },
    },
    {
      title: "the dynamic provider",
      type: "pulumi-nodejs:dynamic/consortium:Consortium",
      command: join(dirname(cli.command), "pulumi-resource-pulumi-nodejs"),
      inputs: { name: "a", __provider: code },
    },
  ];
  // Stands for the engine, which a provider process watches, and tells nothing here.
  const engine = createServer().unref().listen(0, "127.0.0.1");
  await once(engine, "listening");
  const { port: enginePort } = /** @type {import("node:net").AddressInfo} */ (engine.address());
  const rounds = Number(options.rounds ?? usualRounds);
  const [plugin, dynamic] = await inTurn(rounds, [
    () => started(sides[0], enginePort),
    () => started(sides[1], enginePort),
  ]);
  engine.close();
  const row = (/** @type {string} */ measure, /** @type {keyof Started} */ key) => {
    // Of two right after each other, so that a machine that gets busier meanwhile changes nothing.
    const ratio = median(plugin.map((one, round) => one[key] / (dynamic[round]?.[key] ?? NaN)));
    return bounded(measure, ratio, { most, of: "the dynamic provider", measured: `×${ratio.toFixed(3)}` });
  };
  const line = (/** @type {Side} */ { title }, /** @type {Started[]} */ all) => [
    title,
    ...[seconds(median(all.map(({ port }) => port))), seconds(median(all.map(({ checked }) => checked)))],
    `${(median(all.map(({ memory }) => memory)) / 2 ** 20).toFixed(0)} MiB`,
  ];
  const lines = [line(sides[0], plugin), line(sides[1], dynamic)];
  return {
    rows: [
      row("start of the provider process, until it listens", "port"),
      row("start of the provider process, until it has checked a resource", "checked"),
    ],
    details: table(["provider process", "listens after", "has checked a resource after", "memory then"], lines),
  };
};

/** @param {Side} side @param {number} enginePort @returns {Promise<Started>} */
async function started({ title, command, type, inputs }, enginePort) {
  const from = performance.now();
  const child = spawn(command, [`127.0.0.1:${enginePort}`], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [first] = await once(/** @type {import("node:stream").Readable} */ (child.stdout), "data");
    const port = performance.now() - from;
    const client = new grpc.ResourceProviderClient(`127.0.0.1:${String(first).trim()}`, credentials.createInsecure());
    const configuration = new proto.ConfigureRequest();
    configuration.setArgs(new wellKnown.Struct());
    await answered((done) => client.configure(configuration, done));
    const request = new proto.CheckRequest();
    request.setUrn(`urn:pulumi:bench::bench::${type}::a`);
    request.setOlds(new wellKnown.Struct());
    request.setNews(wellKnown.Struct.fromJavaScript(inputs));
    const response = await answered((done) => client.check(request, done));
    if (response.getFailuresList().length > 0) log(`${title} refuses the resource: ${response.getFailuresList()}`);
    const checked = performance.now() - from;
    client.close();
    const [own] = treeOf(Number(child.pid));
    return { port, checked, memory: own?.rss ?? NaN };
  } finally {
    child.kill("SIGKILL");
  }
}

/**
 * @template T
 * @param {(done: (error: Error | null, answer: T) => void) => unknown} call
 * @returns {Promise<T>}
 */
const answered = (call) =>
  new Promise((resolve, reject) => {
    call((error, answer) => (error ? reject(error) : resolve(answer)));
  });
