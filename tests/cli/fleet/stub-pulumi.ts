import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A stack as the stub keeps it: names of its networks, ids of its objects. */
export interface StubStack {
  tags: Record<string, string>;
  networks: string[];
  ids: string[];
}

export type StubState = Record<string, StubStack>;

/**
 * A `pulumi` that keeps its stacks in one file, for what a fleet decides by itself: an `up` holds the network of the stack's settings.
 */
const program = `#!/usr/bin/env node
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const folder = process.env.STUB_FOLDER;
const file = join(folder, "stacks.json");
const all = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
const keep = () => writeFileSync(file, JSON.stringify(all));
const args = process.argv.slice(2);
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
const own = existsSync("Pulumi.yaml") ? /^name: *(\\S+)/m.exec(readFileSync("Pulumi.yaml", "utf8"))?.[1] : undefined;
const [verb, noun, ...rest] = args;
const name = verb === "stack" && ["init", "rm"].includes(noun) ? rest[0] : option("--stack");
const key = name && (name.includes("/") ? name.split("/").slice(-2).join("/") : own + "/" + name);
const fail = (text) => { console.error("error: " + text); process.exit(255); };
appendFileSync(join(folder, "calls.txt"), args.filter((one) => !/^(--color|never|--non-interactive)$/.test(one)).join(" ") + "\\n");
const step = (op, id) => ({ resOutputsEvent: { metadata: { op, urn: "urn:pulumi:s::p::consortium:index:Consortium::" + id,
  type: "consortium:index:Consortium", new: { custom: true }, old: { custom: true } } } });
const tell = (event) => console.log(JSON.stringify(event));
if (name && !all[key] && noun !== "init") fail("no stack named '" + name + "' found");
const stack = all[key];
if (verb === "stack" && noun === "ls") {
  const [tag, value] = (option("--tag") ?? "").split(/=(.*)/s);
  const wanted = option("--project") ?? (args.includes("--all") ? undefined : own);
  const found = Object.entries(all).filter(([one, { tags }]) =>
    (wanted === undefined || one.startsWith(wanted + "/")) && (!tag || tags[tag] === value));
  console.log(JSON.stringify(found.map(([one, { ids }]) => {
    const [project, last] = one.split("/");
    return { name: project === own ? last : "organization/" + one, resourceCount: ids.length };
  })));
} else if (verb === "stack" && noun === "init") {
  if (stack) fail("stack '" + name + "' already exists");
  all[key] = { tags: {}, networks: [], ids: [] };
  keep();
} else if (verb === "stack" && noun === "rm") {
  delete all[key];
  keep();
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
  writeFileSync(option("--file"), JSON.stringify({ deployment: { resources } }));
} else if (verb === "up") {
  const settings = readFileSync("Pulumi." + name + ".yaml", "utf8");
  const [, network] = /:name: *"?([^"\\n]+)/.exec(settings) ?? /network: *"?.*?([^/"\\n]+)\\.yaml/.exec(settings);
  const gone = stack.networks.filter((one) => one !== network);
  gone.forEach((one) => tell(step("delete", one)));
  tell(step(stack.networks.includes(network) ? "same" : "create", network));
  Object.assign(stack, { networks: [network], ids: ["id-of-" + network] });
  keep();
} else if (verb === "destroy") {
  stack.networks.forEach((one) => tell(step("delete", one)));
  Object.assign(stack, { networks: [], ids: [] });
  keep();
}
`;

/** Puts the stub on the PATH of an environment. */
export class StubPulumi {
  readonly env: NodeJS.ProcessEnv;

  constructor(readonly folder: string) {
    const bin = join(folder, "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "pulumi"), program);
    chmodSync(join(bin, "pulumi"), 0o755);
    this.env = { PATH: `${bin}:${process.env.PATH}`, STUB_FOLDER: folder, PULUMI_CONFIG_PASSPHRASE: "a" };
  }

  get stacks(): StubState {
    const file = join(this.folder, "stacks.json");
    return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as StubState) : {};
  }

  set stacks(stacks: StubState) {
    writeFileSync(join(this.folder, "stacks.json"), JSON.stringify(stacks));
  }

  get calls(): string[] {
    return readFileSync(join(this.folder, "calls.txt"), "utf8").trim().split("\n");
  }
}
