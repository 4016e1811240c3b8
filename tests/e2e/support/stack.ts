import { type ChildProcess, spawn } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { classOf } from "../../../provider/constants";
import { type PulumiCli, pulumiCli } from "../../../tools/lib/pulumi-cli.mjs";
import { type Finished, finished, neutralEnv } from "../../../tools/lib/processes.mjs";
import { type Language, type Project, projectIn } from "./languages/project";
import { cliWithLanguages } from "./languages/sdk";
import { atTheEnd } from "./ending";
import { Inline, standingIn } from "./inline";
import { root } from "./root";
import { encrypted, initStack, isOurs, outputsIn, passphrase, salt, stateFile, stateIn } from "./state-file";

export { finished, root };
export type { Finished as Result };

/** Whether all tests run on the newest release, which does some things in another way than the oldest. */
export const onNewest = process.env.PULUMI_CONSORTIUM_CLI !== "oldest";

let found: Promise<PulumiCli> | undefined;
/** The real CLI itself: `tools/pulumi` would be one more process for a signal to pass. The newest leaves policy packs to a language host. */
export const cli = (): Promise<PulumiCli> => (found ??= pulumiCli({ languages: onNewest }));

export interface StackOptions {
  /** The program: JavaScript text that may `require("pulumi-consortium")`, or the folder of an example. */
  program: string | { example: string };
  /** What the program is written in. Default: JavaScript or TypeScript, as with "nodejs", whose CLI generates code, too. */
  language?: Language | "nodejs";
  /** For what only one release does. Default: the release that all tests run on. */
  release?: "oldest" | "newest";
  /** A provider's schema: Python and Go programs can import the SDK that is generated from it. */
  schema?: string;
  env?: Record<string, string | undefined>;
  config?: Record<string, string>;
  /** Secret configuration. */
  secrets?: Record<string, string>;
  /** Whether the classes run on the provider plugin. Default: on the dynamic provider. */
  plugin?: boolean;
  /**
   * Whether the plugin, and a program that is JavaScript text, run in the process of the test: quick, and enough wherever no
   * processes are looked at, and no program throws. Default: Pulumi starts a process for each.
   */
  inline?: boolean;
}

/** Programs are JavaScript, unless a test writes a project of its own. */
const runtime = { name: "nodejs", options: { typescript: false } };

/** Where a project finds the provider plugin that `node tools/plugin.mjs` bundled. */
const plugins = { providers: [{ name: "consortium", path: join(root, "plugin") }] };

const { files } = jest.requireActual<{ files: string[] }>("../../../package.json");
/** The files and folders of this package. */
const published = new Set(["package.json", ...files.filter((name) => !name.startsWith("!")).map((name) => name.split("/")[0]!)]); // prettier-ignore

/** For every process in Node.js of a run: see the file. */
export const withoutCompiler = `--require=${join(root, "tests/e2e/support/unused.cjs")}`;

/** The environment of a run that must not reach the network, without anything that this shell happens to have set. */
function baseEnvironment(state: string, isExample: boolean): Record<string, string | undefined> {
  return {
    ...neutralEnv(),
    PULUMI_BACKEND_URL: `file://${state}`,
    PULUMI_CONFIG_PASSPHRASE: passphrase,
    PULUMI_STACK: "test",
    PULUMI_NODEJS_TRANSPILE_ONLY: "true", // npm test checks the types of all examples
    NODE_OPTIONS: isExample ? undefined : withoutCompiler, // examples run as they do for users
    PULUMI_CONSORTIUM_CACHE: process.env.PULUMI_CONSORTIUM_CACHE,
  };
}

/** A Pulumi project in a folder of its own, with a local state, driven through the real CLI. It ends with the tests of the file. */
export class Stack {
  readonly folder = mkdtempSync(join(tmpdir(), "consortium-e2e-"));
  readonly env: Record<string, string | undefined>;
  readonly #backend = join(this.folder, "state");
  #inline?: Inline;

  private constructor(
    private readonly cli: PulumiCli,
    options: StackOptions,
    private readonly project: Project | undefined,
  ) {
    mkdirSync(this.#backend);
    const onPlugin = options.plugin && { CONSORTIUM_PLUGIN: "true" };
    this.env = {
      XDG_STATE_HOME: join(this.folder, "home"),
      ...baseEnvironment(this.#backend, typeof options.program === "object"),
      ...cli.env,
      ...project?.env,
      ...onPlugin,
      ...options.env,
    };
    if (!project) this.linkPackages();
    if (typeof options.program === "object") {
      const skipped = /node_modules|Pulumi\.[^/]+\.yaml$/;
      cpSync(join(root, options.program.example), this.folder, {
        recursive: true,
        filter: (from) => !skipped.test(from.slice(root.length)),
      });
    } else {
      this.write("Pulumi.yaml", project?.settings ?? stringify({ name: "e2e", runtime }));
      if (!project) this.write("package.json", JSON.stringify({ name: "e2e", main: "index.js" }));
      this.program(options.program);
    }
    if (options.plugin) appendFileSync(join(this.folder, "Pulumi.yaml"), stringify({ plugins }));
    for (const [file, text] of Object.entries(project?.dependencies ?? {})) this.write(file, text);
    for (const [name, folder] of Object.entries(project?.links ?? {})) symlinkSync(folder, join(this.folder, name));
  }

  /** What a program in JavaScript may require. Of this package, what is published: Pulumi looks for plugins in all that it finds. */
  private linkPackages(): void {
    const modules = join(this.folder, "node_modules");
    for (const folder of ["@pulumi", "pulumi-consortium"]) mkdirSync(join(modules, folder), { recursive: true });
    for (const name of published) symlinkSync(join(root, name), join(modules, "pulumi-consortium", name));
    for (const name of ["@pulumi/pulumi", "@types", "typescript", "ts-node"]) {
      symlinkSync(join(root, "node_modules", name), join(modules, name));
    }
  }

  static async create(options: StackOptions): Promise<Stack> {
    const { language, schema, release } = options;
    const project = language === "nodejs" || !language ? undefined : await projectIn(language, schema);
    const chosen = release ? pulumiCli({ languages: true, release }) : language ? cliWithLanguages() : cli();
    const stack = new Stack(await chosen, options, project);
    atTheEnd(() => stack.#remove());
    if (options.inline) stack.#inline = await Inline.start(project ? undefined : () => stack.#read("index.js"));
    if (stack.#isInFolder) initStack(stack.#backend, stack.#project, "test");
    stack.write("Pulumi.test.yaml", stringify({ encryptionsalt: salt, config: options.config ?? {} }));
    if (!stack.#isInFolder) await stack.ok(["stack", "init", "test"]);
    if (options.secrets) stack.secrets(options.secrets);
    return stack;
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text);
  }

  rename(from: string, to: string): void {
    renameSync(join(this.folder, from), join(this.folder, to));
  }

  /** Replaces the program. */
  program(text: string): void {
    this.write(this.project?.main ?? "index.js", text);
  }

  /** Sets secret configuration. */
  secrets(values: Record<string, string>): void {
    const file = "Pulumi.test.yaml";
    const { config, ...rest } = parse(this.#read(file)) as { config: object };
    const given = Object.entries(values).map(([key, value]) => [key, encrypted(value)]);
    this.write(file, stringify({ ...rest, config: { ...config, ...(Object.fromEntries(given) as object) } }));
  }

  start(args: string[], given: Record<string, string | undefined> = {}): ChildProcess {
    const env = { ...this.env, ...given };
    const leave = this.#inline && standingIn(this.folder, env);
    const command = this.#inline?.command(args) ?? { args, env: {} };
    const child = spawn(this.cli.command, [...command.args, "--non-interactive", "--color", "never"], {
      cwd: this.folder,
      env: { ...env, ...command.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.once("close", (code) => {
      this.#inline?.ended(code !== null);
      leave?.();
    });
    return child;
  }

  run(args: string[], env?: Record<string, string | undefined>): Promise<Finished> {
    return finished(this.start(args, env));
  }

  ok(args: string[], env?: Record<string, string | undefined>): Promise<Finished> {
    return done(this.run(args, env), `pulumi ${args.join(" ")}`);
  }

  up = (env?: Record<string, string | undefined>, ...args: string[]): Promise<Finished> =>
    this.run(["up", "--yes", "--skip-preview", ...args], env);
  preview = (env?: Record<string, string | undefined>, ...args: string[]): Promise<Finished> =>
    this.run(["preview", ...args], env);
  refresh = (env?: Record<string, string | undefined>, ...args: string[]): Promise<Finished> =>
    this.run(["refresh", "--yes", "--skip-preview", ...args], env);
  destroy = (env?: Record<string, string | undefined>, ...args: string[]): Promise<Finished> =>
    this.run(["destroy", "--yes", "--skip-preview", ...args], env);

  async outputs(stack = "test"): Promise<Record<string, unknown>> {
    const state = this.#isInFolder ? stateIn(stateFile(this.#backend, this.#project, stack)) : undefined;
    if (state && isOurs(state)) return outputsIn(state);
    const { stdout } = await this.ok(["stack", "output", "--json", "--show-secrets", "--stack", stack]);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  /** The state as text, secrets encrypted, as it lies in the backend. */
  async exported(): Promise<string> {
    if (this.#isInFolder)
      return JSON.stringify({ deployment: stateIn(stateFile(this.#backend, this.#project, "test")) });
    return (await this.ok(["stack", "export"])).stdout;
  }

  get #isInFolder(): boolean {
    return this.env.PULUMI_BACKEND_URL === `file://${this.#backend}`;
  }

  get #project(): string {
    return (parse(this.#read("Pulumi.yaml")) as { name: string }).name;
  }

  #read = (file: string): string => readFileSync(join(this.folder, file), "utf8");

  async resources(): Promise<StateResource[]> {
    const state = JSON.parse(await this.exported()) as { deployment: { resources?: StateResource[] } };
    return (state.deployment.resources ?? []).filter(({ custom, type }) => custom && classOf(type) !== undefined);
  }

  /** The adapters that its resources are on. */
  async adapters(): Promise<string[]> {
    return [...new Set((await this.resources()).map(({ type }) => type.slice(0, type.lastIndexOf(":") + 1)))];
  }

  /** Ids of everything in the state; their order says nothing. */
  async ids(): Promise<string[]> {
    return (await this.resources()).map(({ id }) => id).sort();
  }

  #remove(): void {
    this.#inline?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface StateResource {
  urn: string;
  type: string;
  /** Whether it is more than a component. */
  custom: boolean;
  id: string;
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown>;
  initErrors?: string[];
}

/** A run that has to succeed. */
export async function done(run: Promise<Finished>, what = "the run"): Promise<Finished> {
  const result = await run;
  if (result.code !== 0) throw new Error(`${what} ended with ${result.code}:\n${result.text}`);
  return result;
}

/** A run that has to fail; what it printed. */
export async function failed(run: Promise<Finished>): Promise<string> {
  const { code, text } = await run;
  expect(code).not.toBe(0);
  return text;
}
