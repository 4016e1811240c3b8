import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporary, writeIn } from "./made";

/** A stack in the stub: names of its networks, ids of its objects. */
interface StubStack {
  tags: Record<string, string>;
  networks: string[];
  ids: string[];
}

export type StubState = Record<string, StubStack>;

/**
 * A `pulumi` that keeps each stack in a file, to test a fleet's own decisions: an `up` stores the network of the stack's settings. It
 * writes its events where the Automation API expects them.
 * The variable `STUB_<stack>` makes a preview, an `up` or a `destroy` of it fail ("fail:why") or wait for Ctrl-C ("hang"), not even end
 * then ("deaf"), or say that it heard it and take two seconds ("slow"); or find the lock of a process that has ended, once, and then fail
 * ("locked:why"); or a preview and an `up` replace two environments ("lose").
 */
const program = `#!/usr/bin/env node
const { appendFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const folder = process.env.STUB_FOLDER;
const fileOf = (key) => join(folder, "stacks", encodeURIComponent(key));
const all = Object.fromEntries(readdirSync(join(folder, "stacks")).filter((file) => !file.includes("~")).map((file) => {
  const text = readFileSync(join(folder, "stacks", file), "utf8");
  return [decodeURIComponent(file), JSON.parse(text)];
}));
const keep = () => {
  const draft = fileOf(key) + "~" + process.pid;
  writeFileSync(draft, JSON.stringify(all[key]));
  renameSync(draft, fileOf(key));
};
const args = process.argv.slice(2);
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
const own = existsSync("Pulumi.yaml") ? /^name: *(\\S+)/m.exec(readFileSync("Pulumi.yaml", "utf8"))?.[1] : undefined;
const [verb, noun, ...rest] = args;
const name = verb === "stack" && ["init", "rm"].includes(noun) ? rest.find((one) => !one.startsWith("-")) : option("--stack");
const key = name && (name.includes("/") ? name.split("/").slice(-2).join("/") : own + "/" + name);
const fail = (text) => { console.error("error: " + text); process.exit(255); };
const noise = /^(--color|never|--non-interactive|--exec-kind|auto\\.local|--event-log|tcp:.*|--show-secrets)$/;
appendFileSync(join(folder, "calls.txt"), args.filter((one) => !noise.test(one)).join(" ") + "\\n");
const metadata = (op, type, id) => ({ op, urn: "urn:pulumi:s::p::consortium:index:" + type + "::" + id,
  type: "consortium:index:" + type, old: { custom: true }, new: { custom: true } });
const step = (op, id) => tell({ resOutputsEvent: { metadata: metadata(op, "Consortium", id) } });
const ledger = (op, id) => tell({ resourcePreEvent: { metadata: metadata(op, "Environment", id) } });
const events = [];
const tell = (event) => void events.push(event);
// A message of gRPC whose first field is this text: to load its library takes longer than all else here.
const framed = (text) => {
  const bytes = Buffer.from(text);
  const size = [];
  for (let rest = bytes.length; size.push((rest & 127) | (rest > 127 ? 128 : 0)), rest > 127; ) rest >>>= 7;
  const head = Buffer.from([0, 0, 0, 0, 0, 10, ...size]);
  head.writeUInt32BE(1 + size.length + bytes.length, 1);
  return Buffer.concat([head, bytes]);
};
const finish = (code = 0, afterMs = 0) => {
  const [, server] = (option("--event-log") ?? "").split("tcp://");
  if (!server) process.exit(code);
  const { connect } = require("node:http2");
  const session = connect("http://" + server);
  const headers = { ":method": "POST", ":path": "/pulumirpc.Events/StreamEvents", "content-type": "application/grpc", te: "trailers" };
  const stream = session.request(headers, { endStream: false }).resume();
  stream.on("close", () => process.exit(code));
  for (const event of events) stream.write(framed(JSON.stringify(event)));
  setTimeout(() => stream.end(), afterMs);
};
if (verb === "version") {
  if (process.env.STUB_VERSION === "interrupted") {
    while (!existsSync(join(folder, "interrupted"))) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    fail("interrupted");
  }
  console.log(process.env.STUB_VERSION ?? "v3.216.0");
  process.exit();
}
if (name && !all[key] && noun !== "init") fail("no stack named '" + name + "' found");
const stack = all[key];
if (verb === "stack" && noun === "ls") {
  const found = Object.entries(all).filter(([one]) => one.startsWith(own + "/"));
  console.log(JSON.stringify(found.map(([one, { ids }]) => ({ name: one.split("/")[1], resourceCount: ids.length }))));
} else if (verb === "stack" && noun === "init") {
  if (stack) fail("stack '" + name + "' already exists");
  all[key] = { tags: {}, networks: [], ids: [] };
  keep();
} else if (verb === "stack" && noun === "rm") {
  rmSync(fileOf(key));
} else if (verb === "stack" && noun === "tag" && rest[0] === "ls") {
  console.log(JSON.stringify(stack.tags));
} else if (verb === "stack" && noun === "tag") {
  stack.tags[rest[1]] = rest[2];
  keep();
} else if (verb === "stack" && noun === "export") {
  const resources = [
    ...stack.networks.map((one) => ({ type: "consortium:index:Network", urn: "urn:pulumi:s::p::consortium:index:Network::" + one })),
    ...stack.ids.map((id) => ({ type: "consortium:index:Consortium", urn: "urn:pulumi:s::p::t::" + id, id })),
  ];
  console.log(JSON.stringify({ deployment: { resources } }));
} else if (["up", "preview"].includes(verb) && process.env["STUB_" + name] === "lose") {
  for (const id of ["e", "f"]) for (const op of verb === "up" ? ["replace", "delete-replaced"] : ["replace"]) ledger(op, id);
  tell({ summaryEvent: { resourceChanges: {} } });
  finish();
} else if (["up", "destroy", "preview"].includes(verb) && process.env["STUB_" + name]) {
  const [order, text] = process.env["STUB_" + name].split(":");
  process.on("SIGINT", () => {
    appendFileSync(join(folder, name + ".signals"), "SIGINT ");
    if (order === "hang") process.exit(255);
    if (order !== "slow") return;
    tell({ stdoutEvent: { message: "^C received; cancelling." } });
    finish(255, 2_000);
  });
  writeFileSync(join(folder, name + ".pid"), String(process.pid));
  if (["hang", "deaf", "slow"].includes(order)) return void setInterval(() => undefined, 1_000);
  const lock = join(folder, name + ".locked");
  if (order === "locked" && !existsSync(lock)) {
    writeFileSync(lock, "");
    const holder = "created by root@" + require("node:os").hostname() + " (pid 4194305) at 2026-01-01T00:00:00Z";
    const message = "the stack is currently locked by 1 lock(s). " + holder;
    tell({ diagnosticEvent: { severity: "error", message, color: "never" } });
    console.error("error: " + message);
    return void finish(255);
  }
  const words = { severity: "error", message: text + " (key " + process.env.CONSORTIUM_API_KEY + ")\\n", color: "never" };
  tell({ diagnosticEvent: words });
  finish(255);
} else if (verb === "up") {
  const settings = readFileSync("Pulumi." + name + ".yaml", "utf8");
  const [, network] = /:name: *"?([^"\\n]+)/.exec(settings) ?? /network: *"?.*?([^/"\\n]+)\\.yaml/.exec(settings);
  const gone = stack.networks.filter((one) => one !== network);
  gone.forEach((one) => step("delete", one));
  step(stack.networks.includes(network) ? "same" : "create", network);
  Object.assign(stack, { networks: [network], ids: ["id-of-" + network] });
  keep();
  finish();
} else if (verb === "destroy") {
  ledger("delete", "e");
  stack.networks.forEach((one) => step("delete", one));
  if (args.includes("--preview-only")) {
    tell({ summaryEvent: { resourceChanges: {} } });
    return void finish();
  }
  Object.assign(stack, { networks: [], ids: [] });
  keep();
  finish();
} else if (verb === "preview" || verb === "refresh") {
  tell({ summaryEvent: { resourceChanges: {} } });
  finish();
}
`;

/** Puts the stub on the PATH of an environment. */
export class StubPulumi {
  readonly env: Record<string, string>;
  readonly #stacks: string;

  constructor(readonly folder: string) {
    const bin = join(folder, "bin");
    this.#stacks = join(folder, "stacks");
    for (const one of [bin, this.#stacks]) mkdirSync(one, { recursive: true });
    writeFileSync(join(bin, "pulumi"), program);
    chmodSync(join(bin, "pulumi"), 0o755);
    this.env = {
      PATH: `${bin}:${process.env.PATH}`,
      STUB_FOLDER: folder,
      PULUMI_CONFIG_PASSPHRASE: "a",
      CONSORTIUM_OFFLINE_PREVIEW: "true",
    };
  }

  get stacks(): StubState {
    const read = (file: string): StubStack => JSON.parse(readFileSync(join(this.#stacks, file), "utf8")) as StubStack;
    return Object.fromEntries(readdirSync(this.#stacks).map((file) => [decodeURIComponent(file), read(file)]));
  }

  set stacks(stacks: StubState) {
    for (const [key, stack] of Object.entries(stacks))
      writeFileSync(join(this.#stacks, encodeURIComponent(key)), JSON.stringify(stack));
  }

  /** Waits for the process that is changing a stack. */
  pidOf(stack: string): number | undefined {
    const file = join(this.folder, `${stack}.pid`);
    return (existsSync(file) && Number(readFileSync(file, "utf8"))) || undefined;
  }

  /** Which signals the process of a stack got. */
  signalsOf = (stack: string): string => readFileSync(join(this.folder, `${stack}.signals`), "utf8").trim();

  get calls(): string[] {
    return readFileSync(join(this.folder, "calls.txt"), "utf8").trim().split("\n");
  }
}

/** A folder with the stub, network files, and fleet files that keep their states in it. */
export class StubFleet {
  readonly folder = temporary();
  readonly pulumi = new StubPulumi(join(this.folder, "stub"));

  constructor(...networks: string[]) {
    for (const name of networks) writeIn(this.folder, `${name}.yaml`, "members: [m]\n");
  }

  /** Writes a fleet file, and returns its path. */
  write(organizations: object, settings: object = {}, name = "fleet.yaml"): string {
    const backend = `file://${this.folder}/state`;
    return writeIn(this.folder, name, JSON.stringify({ project: "fleet", backend, ...settings, organizations }));
  }
}
