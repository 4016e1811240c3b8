import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Document, parse, Scalar, type ScalarTag, visit } from "yaml";
import { printableLines } from "../../provider/api/printable";
import { pluginPrefix } from "../../provider/constants";
import { version } from "../../provider/version";
import { readFile } from "../../sdk/network/load";
import { type Fleet, type FleetStack } from "./file";

/**
 * The program that all stacks with network files share. The configuration of a stack says which file is its network.
 * @param plugins more of Pulumi.yaml: where the provider plugin is
 */
export const programFiles = (project: string, plugins?: object): Record<string, string> => ({
  "Pulumi.yaml": yamlForAll({
    name: project,
    runtime: { name: "nodejs", options: { typescript: false } },
    ...(plugins && { plugins }),
  }),
  "package.json": `${JSON.stringify(
    {
      name: project,
      private: true,
      main: "index.js",
      dependencies: { "@pulumi/pulumi": "^3.216.0", "pulumi-consortium": `^${version}` },
    },
    undefined,
    2,
  )}\n`,
  "index.js": `"use strict";
const { Config } = require("@pulumi/pulumi");
const { Network } = require("pulumi-consortium");

const config = new Config();
Network.fromFile(config.require("network"), { name: config.get("name") });
`,
});

const configKeys = (project: string) => [`${project}:network`, `${project}:name`] as const;

/** What that program reads; `definition` is the path of the network file as the program finds it. */
export function programConfig(project: string, definition: string, { network }: FleetStack): Record<string, string> {
  const [file, name] = configKeys(project);
  return { [file]: definition, ...(network === undefined ? {} : { [name]: network }) };
}

/** A network file as Pulumi YAML for the provider plugin. The resource has the network's name. */
export function yamlProgram(file: string, network?: string): { resources: Record<string, object> } {
  const { name: own, ...definition } = readFile(file);
  const name = network ?? own ?? basename(file, extname(file));
  return { resources: { [name]: { type: `${pluginPrefix}Network`, properties: plain(definition) } } };
}

/** Pulumi YAML takes `${` for the beginning of an expression, and drops an entry that says nothing, such as `acme:`. */
function plain(value: unknown): unknown {
  if (value === null) return {};
  if (typeof value === "string") return value.replaceAll("${", () => "$${");
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plain(part)]));
}

/** Where a fleet keeps what it needs between runs: its program, settings of the stacks, logs, and the journal of its runs. */
export const workFolderOf = ({ folder, project }: Fleet): string => join(folder, ".consortium", "fleet", project);

/** Writes the Pulumi project of the fleet into its work folder. This package and Pulumi's are found from there by name. */
export function prepareWorkFolder(fleet: Fleet): string {
  const folder = workFolderOf(fleet);
  mkdirSync(join(folder, "logs"), { recursive: true });
  mkdirSync(join(folder, "node_modules", "@pulumi"), { recursive: true });
  const ours = createRequire(__filename);
  for (const [name, text] of Object.entries(programFiles(fleet.project, pluginOf(ours))))
    writeChanged(join(folder, name), text);
  for (const name of ["pulumi-consortium", "@pulumi/pulumi"])
    link(dirname(realpathSync(ours.resolve(`${name}/package.json`))), join(folder, "node_modules", name));
  return folder;
}

/** Pulumi does not create the state's folder. */
export function prepareBackend({ backend = "" }: Fleet): void {
  if (backend.startsWith("file:///")) mkdirSync(fileURLToPath(backend), { recursive: true });
}

/** The provider plugin that is part of this package, so that stacks which say `consortium:plugin` need none installed. */
function pluginOf(ours: NodeJS.Require): object | undefined {
  const path = join(dirname(realpathSync(ours.resolve("pulumi-consortium/package.json"))), "plugin");
  return existsSync(path) ? { providers: [{ name: "consortium", path }] } : undefined;
}

interface Settings {
  config?: Record<string, unknown>;
}

/** Sets the configuration of a stack with a network file. What else is in its settings, such as the salt, stays. */
export function configure(workFolder: string, { project }: Fleet, stack: FleetStack): void {
  if (stack.definition === undefined) return;
  const file = join(workFolder, `Pulumi.${stack.name}.yaml`);
  const settings = (existsSync(file) ? parse(readFileSync(file, "utf8")) : undefined) as Settings | undefined;
  const others = Object.entries(settings?.config ?? {}).filter(
    ([key]) => !(configKeys(project) as readonly string[]).includes(key),
  );
  const config = { ...Object.fromEntries(others), ...programConfig(project, stack.definition, stack) };
  writeChanged(file, yamlForAll({ ...settings, config }));
}

/** Leaves an up-to-date file alone: another run may be reading it. */
function writeChanged(file: string, text: string): void {
  if (!existsSync(file) || readFileSync(file, "utf8") !== text) writeFileSync(file, text);
}

function link(target: string, path: string): void {
  try {
    if (readlinkSync(path) === target) return;
  } catch {
    // There is none.
  }
  rmSync(path, { recursive: true, force: true });
  symlinkSync(target, path, "junction");
}

const versions = ["1.1", "1.2"] as const;

/** Words and paths that no reader takes for anything else, except for `no`, `Null` and the like. */
const wordLike = /^[A-Za-z/][A-Za-z0-9_./@-]*(:[A-Za-z0-9_./@-]+)*$/;

const isPlain = (text: string): boolean =>
  wordLike.test(text) && versions.every((version) => parse(text, { version }) === text);

/** Without a point, an older reader takes `1e-7` for text. */
const pointed: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  test: /^-?\d+\.0e/,
  identify: (value) => typeof value === "number" && /^-?\d+e/.test(String(value)),
  resolve: Number,
  stringify: ({ value }) => String(value).replace("e", ".0e"),
};

/**
 * YAML that says the same to every reader: Kubernetes and Pulumi read by version 1.1, to which `no`, `0123` and `12:30` are a
 * boolean and numbers, and others by 1.2. Each value is written in full, so that every part can be read by itself.
 */
export function yamlForAll(value: unknown): string {
  // `keepUndefined` is off: what is not given is not written.
  const document = new Document(value, { aliasDuplicateObjects: false, customTags: (tags) => [pointed, ...tags] });
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "string" && !isPlain(scalar.value)) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  // What is left of characters that an older reader takes for a line break stands in double quotes, where escapes are read.
  return printableLines(document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER }));
}
