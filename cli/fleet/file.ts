import { readFileSync, statSync } from "node:fs";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { z } from "zod";
import { regions } from "../../provider/api";
import { check, readFile } from "../../sdk/network/load";
import { readYaml } from "../../sdk/yaml/document";
import { lineOf, placed, type Problem, type Reading } from "../../sdk/yaml/problems";
import { checkShape, mapping } from "../../sdk/yaml/shape";

/* The form of a fleet file; what it means, and what else must hold, is in file.ts. */

const nameText = 'a name must have at most 60 letters, digits, ".", "_" and "-", and begin with a letter or a digit';
const name = z
  .string({ error: "a name must be text" })
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, nameText)
  .max(60, nameText);

const text = (what: string) => z.string({ error: `${what} must be text` }).min(1, `${what} must not be empty`);

const neverInClear = (what: string) =>
  `${what} must not be written into this file. Say where it is: { env: NAME_OF_A_VARIABLE } or { command: [program, argument, …] }`;

/** Where a secret is: an environment variable of the run, or what a program prints. */
const secret = (what: string) =>
  z
    .strictObject(
      {
        env: z
          .string()
          .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable")
          .optional(),
        command: z
          .array(z.string({ error: "an argument must be text" }))
          .min(1, "command must name a program")
          .optional(),
      },
      { error: neverInClear(what) },
    )
    .refine(({ env, command }) => (env === undefined) !== (command === undefined), neverInClear(what));

export type SecretSource = z.infer<ReturnType<typeof secret>>;

const stack = z.union(
  [
    text("a stack"),
    mapping("a stack", {
      definition: text("definition").optional(),
      program: text("program").optional(),
      name: name.optional(),
      adopt: z.boolean({ error: "adopt must be true or false" }).optional(),
    }),
  ],
  { error: "a stack must be the name of a network file, or a mapping with definition or program" },
);

const organization = mapping("an organization", {
  apiKey: secret("an API key"),
  region: z.enum(regions, { error: `region must be one of ${regions.join(", ")}` }).optional(),
  baseUrl: text("baseUrl").optional(),
  organization: text("organization").optional(),
  allowHttp: z.boolean({ error: "allowHttp must be true or false" }).optional(),
  stacks: z.record(name, stack, { error: "stacks must be a mapping of names to network files" }),
});

const kubernetes = mapping("kubernetes", {
  namespace: text("namespace").optional(),
  serviceAccount: text("serviceAccount").optional(),
  image: text("image").optional(),
  secret: text("secret").optional(),
  git: mapping("git", {
    repository: text("repository"),
    branch: text("branch").optional(),
    commit: text("commit").optional(),
    folder: text("folder").optional(),
  }).optional(),
});

const count = "concurrency must be a whole number from 1 to 64";

export const FleetFile = mapping("a fleet", {
  project: name.optional(),
  id: text("id").max(200, "id must have at most 200 characters").optional(),
  concurrency: z.number({ error: count }).int(count).min(1, count).max(64, count).optional(),
  backend: z
    .string({ error: "backend must be text" })
    .regex(
      /^[a-z0-9]+:\/\//,
      "backend must be an address such as file://./state, s3://bucket or https://api.pulumi.com",
    )
    .optional(),
  secretsProvider: text("secretsProvider").optional(),
  passphrase: secret("a passphrase").optional(),
  organizations: z.record(name, organization, { error: "organizations must be a mapping of names to organizations" }),
  kubernetes: kubernetes.optional(),
});

export type FleetDefinition = z.infer<typeof FleetFile>;

/** An organization of the file; its `organization` is the id of the one that the key must belong to. */
export interface Organization extends Omit<FleetDefinition["organizations"][string], "stacks"> {
  name: string;
}

export interface FleetStack {
  /** `<organization>-<name in the file>`: the name of the Pulumi stack. */
  name: string;
  organization: Organization;
  /** A network file, absolute; or else `program`. */
  definition?: string;
  /** A folder with a Pulumi program, absolute. */
  program?: string;
  /** Name of the network. Default: what its file says. */
  network?: string;
  /** Adopts what is in the service already. */
  adopt: boolean;
}

/** The file with its defaults. Without `backend` it is that of PULUMI_BACKEND_URL, or where the user is logged in. */
export interface Fleet extends Omit<FleetDefinition, "organizations"> {
  /** As it was given. */
  file: string;
  /** The folder of the file, absolute: paths in it are relative to this one. */
  folder: string;
  project: string;
  /** Whether the file names its project. */
  hasProject: boolean;
  concurrency: number;
  organizations: Organization[];
  stacks: FleetStack[];
}

/** Everything that is wrong with a fleet file, each with its place. */
export class FleetFileError extends Error {
  override readonly name = "FleetFileError";
  constructor(
    file: string,
    readonly problems: readonly string[],
  ) {
    const all = [`${file} has ${problems.length} problems; nothing was started:`, ...problems.map((one) => `  ${one}`)];
    super(problems.length === 1 ? `${problems[0]}\nNothing was started.` : all.join("\n"));
  }
}

type Env = Record<string, string | undefined>;

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new FleetFileError(file, [`${file}: ${code === "ENOENT" ? "there is no such file" : message}`]);
  }
}

const shown = (reading: Reading, problems: readonly Problem[]): string[] => placed(reading, problems).map(lineOf);

export interface ReadOptions {
  env: Env;
  /** Whether secrets are needed. */
  secrets?: boolean;
  /** Patterns of the stacks that are wanted: only their secrets are needed. */
  only?: readonly string[];
}

/** Reads a fleet file and all that it names. @throws FleetFileError with all errors, before anything is started */
export function readFleet(file: string, { env, secrets = true, only = [] }: ReadOptions): Fleet {
  const reading = readYaml(textOf(file), file, { one: "fleet", least: "organizations with their stacks" });
  const { problems } = reading;
  if (problems.length === 0) problems.push(...checkShape(reading, FleetFile));
  if (problems.length > 0) throw new FleetFileError(file, shown(reading, problems));
  const definition = FleetFile.parse(reading.value);
  const fleet = fleetOf(file, definition);
  const elsewhere: string[] = [];
  problems.push(...doubles(definition), ...emptiness(definition), ...missing(definition, fleet, elsewhere));
  if (secrets && problems.length === 0)
    problems.push(...unset(definition, fleet, organizationsOf(chosen(fleet, only)), env));
  if (problems.length + elsewhere.length > 0)
    throw new FleetFileError(file, [...shown(reading, problems), ...elsewhere]);
  return fleet;
}

type Given = FleetDefinition["organizations"][string]["stacks"][string];
const settingsOf = (given: Given) => (typeof given === "string" ? { definition: given } : given);

export const stackName = (organization: string, stack: string): string => `${organization}-${stack}`;

/** The project of a fleet file that named none, for earlier versions. */
export const legacyProject = "fleet";

/** `networks/fleet.yaml` is `networks-fleet`: two fleet files have two projects, unless they say otherwise. */
export function defaultProject(folder: string, file: string): string {
  const words = [basename(folder), basename(file, extname(file))].map((one) => one.replace(/[^A-Za-z0-9._-]+/g, "-"));
  return (
    words
      .filter(Boolean)
      .join("-")
      .slice(-longestProject)
      .replace(/^[^A-Za-z0-9]+/, "") || legacyProject
  );
}

const longestProject = 100;

function fleetOf(file: string, definition: FleetDefinition): Fleet {
  const folder = dirname(resolve(file));
  const at = (path: string | undefined) => (path === undefined ? undefined : resolve(folder, path));
  const { organizations, project = defaultProject(folder, file), concurrency = 4, backend, ...rest } = definition;
  const hasProject = definition.project !== undefined;
  const all = Object.entries(organizations).map(([name, { stacks, ...organization }]) => {
    const owner: Organization = { name, ...organization };
    const own = Object.entries(stacks).map(([key, given]): FleetStack => {
      const { definition, program, name: network, adopt = false } = { program: undefined, ...settingsOf(given) };
      const base = { name: stackName(name, key), organization: owner, network, adopt };
      return { ...base, definition: at(definition), program: at(program) };
    });
    return { owner, own };
  });
  return {
    file,
    folder,
    project,
    hasProject,
    concurrency,
    ...rest,
    backend: backend && absoluteBackend(backend, folder),
    organizations: all.map(({ owner }) => owner),
    stacks: all.flatMap(({ own }) => own),
  };
}

/** `file://./state` means the folder beside the fleet file, wherever the command is run. */
export function absoluteBackend(backend: string, folder: string): string {
  const [, path] = /^file:\/\/(\.{1,2}(?:\/.*)?)$/.exec(backend) ?? [];
  return path === undefined ? backend : `file://${resolve(folder, path)}`;
}

function* everyStack({ organizations }: FleetDefinition) {
  for (const [organization, { stacks }] of Object.entries(organizations))
    for (const [key, given] of Object.entries(stacks))
      yield { organization, key, given, path: ["organizations", organization, "stacks", key] };
}

function doubles(definition: FleetDefinition): Problem[] {
  const seen = new Map<string, string>();
  return [...everyStack(definition)].flatMap(({ organization, key, path }) => {
    const name = stackName(organization, key);
    const other = seen.get(name);
    seen.set(name, `${organization}.${key}`);
    if (other === undefined) return [];
    const message = `the name of this stack would be ${name}, which is that of ${other} already: rename one of them`;
    return [{ path, message, atKey: true }];
  });
}

function emptiness(definition: FleetDefinition): Problem[] {
  if ([...everyStack(definition)].length > 0) return [];
  return [{ path: ["organizations"], message: "there is no stack: write at least one network file under stacks" }];
}

/** Missing files. Errors within network files have their own places. */
function missing(definition: FleetDefinition, { folder }: Fleet, elsewhere: string[]): Problem[] {
  const checked = new Set<string>();
  return [...everyStack(definition)].flatMap(({ key, given, path }): Problem[] => {
    const { definition: file, program, name } = { program: undefined, name: undefined, ...settingsOf(given) };
    const place = (setting: string): string[] => (typeof given === "string" ? path : [...path, setting]);
    if ((file === undefined) === (program === undefined))
      return [{ path, message: "a stack must have either a definition (a network file) or a program (a folder)" }];
    if (program !== undefined) {
      if (isThere(join(folder, program, "Pulumi.yaml"))) return [];
      return [{ path: place("program"), message: `there is no Pulumi.yaml in ${join(folder, program)}` }];
    }
    const absolute = resolve(folder, file!);
    if (!isThere(absolute)) return [{ path: place("definition"), message: `there is no network file ${absolute}` }];
    if (!checked.has(absolute)) elsewhere.push(...problemsOf(absolute, name ?? key));
    checked.add(absolute);
    return [];
  });
}

function isThere(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}

function problemsOf(file: string, name: string): string[] {
  const near = relative(process.cwd(), file) || basename(file);
  return check(name, readFile(file), undefined).problems.map((problem) => lineOf({ ...problem, file: near }));
}

/** Variables that are not set, and a missing passphrase. */
function unset(definition: FleetDefinition, { backend }: Fleet, needed: readonly Organization[], env: Env): Problem[] {
  const found: Problem[] = [];
  const look = (source: SecretSource | undefined, path: string[]): void => {
    if (source?.env !== undefined && !env[source.env])
      found.push({ path: [...path, "env"], message: `the environment variable ${source.env} is not set` });
  };
  for (const { name, apiKey } of needed) look(apiKey, ["organizations", name, "apiKey"]);
  look(definition.passphrase, ["passphrase"]);
  const where = backend ?? env.PULUMI_BACKEND_URL ?? "https://";
  const given = [env.PULUMI_CONFIG_PASSPHRASE, env.PULUMI_CONFIG_PASSPHRASE_FILE].some((one) => one !== undefined);
  const { passphrase, secretsProvider = "passphrase" } = definition;
  if (!where.startsWith("https://") && secretsProvider === "passphrase" && passphrase === undefined && !given) {
    const message =
      `the state in ${where} is encrypted with a passphrase: set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE, ` +
      "or write passphrase: { env: NAME } or secretsProvider into this file";
    found.push({ path: ["backend"], message });
  }
  return found;
}

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** `acme-*`: a star stands for anything. */
const expressionOf = (pattern: string): RegExp => new RegExp(`^${pattern.split("*").map(literal).join(".*")}$`);

/** The stacks that match a pattern; all without one. @throws when one of them fits nothing */
export function chosen<S extends { name: string }>(
  { stacks, file }: { stacks: S[]; file: string },
  patterns: readonly string[],
): S[] {
  if (patterns.length === 0) return stacks;
  const expressions = patterns.map(expressionOf);
  const useless = patterns.find((_, at) => !stacks.some(({ name }) => expressions[at]!.test(name)));
  if (useless !== undefined)
    throw new Error(`${file} has no stack like ${useless}; there are ${stacks.map(({ name }) => name).join(", ")}.`);
  return stacks.filter(({ name }) => expressions.some((one) => one.test(name)));
}

/** The organizations of stacks: only their keys are needed. */
export const organizationsOf = <O>(stacks: readonly { organization: O }[]): O[] => [
  ...new Set(stacks.map(({ organization }) => organization)),
];
