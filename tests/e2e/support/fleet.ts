import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { endProcesses, markOf, processesOf } from "../../../fleet/recovery";
import { type Service, startService } from "../../../service/index";
import { type Summary, temporary, writeIn } from "../../fleet/made";
import { drawn } from "../../support/random";
import { atTheEnd } from "./ending";
import { cliWithLanguages } from "./languages/sdk";
import { finished, neutralEnv } from "../../../tools/lib/processes.mjs";
import { type Result, root, withoutCompiler } from "./stack";
import { until } from "../../support/until";
import { countsOf, type Network, networkOf } from "./world";

/** Keys that must not turn up anywhere. */
export const keys = { acme: "canary-acme-7d21", globex: "canary-globex-90ab" };
const passphrase = "canary-passphrase";

export const network = (consensusType = "raft") => ({
  members: ["m"],
  environments: { e: { provider: "quorum", consensusType, nodes: { m: 1 } } },
});

/** What the network of an organization has. */
export const exactly = { consortia: 1, memberships: 1, environments: 1, nodes: 1, appcreds: 1 };

/** A fleet of two organizations in a folder of its own, on an embedded service that ends with the tests of the file. */
export class FleetWorld {
  readonly folder = temporary();
  /** Where the fleet file says that the keys are. */
  readonly sources = { acme: { env: "ACME_API_KEY" }, globex: { command: ["cat", "globex.key"] } };
  readonly env: NodeJS.ProcessEnv;
  /** Whether commands have a process group of their own, as those of a shell in a terminal. */
  detached = false;

  /** @param pulumi the environment of the real CLI itself: a wrapper would be one more process that a signal must pass */
  private constructor(
    readonly service: Service,
    pulumi: { PATH: string },
  ) {
    this.env = {
      ...neutralEnv(),
      PATH: pulumi.PATH,
      PULUMI_CONFIG_PASSPHRASE: passphrase,
      CONSORTIUM_BASE_URL: service.baseUrl,
      ACME_API_KEY: keys.acme,
      NODE_OPTIONS: withoutCompiler,
    };
    this.write("globex.key", `${keys.globex}\n`);
    this.write("networks/trade.yaml", stringify(network()));
  }

  /** @param nodeStart how long a node takes to start, in milliseconds */
  static async create({ nodeStart = 300 } = {}): Promise<FleetWorld> {
    const organizations = Object.entries(keys).map(([name, apiKey]) => ({ name, apiKey }));
    const service = await startService({ organizations, timing: { environmentStart: 0, nodeStart } });
    atTheEnd(() => service.close());
    return new FleetWorld(service, (await cliWithLanguages()).env);
  }

  write = (file: string, text: string): string => writeIn(this.folder, file, text);

  /** The fleet file: stacks by organization, and what an organization has besides. */
  fleet(
    stacks: Record<keyof typeof keys, object>,
    { acme, globex }: Partial<Record<keyof typeof keys, object>> = {},
  ): void {
    const organizations = {
      acme: { apiKey: this.sources.acme, stacks: stacks.acme, ...acme },
      globex: { apiKey: this.sources.globex, stacks: stacks.globex, ...globex },
    };
    this.write("fleet.yaml", stringify({ project: "fleet", backend: "file://./state", organizations }));
  }

  start = (command: string, ...args: string[]): ChildProcess => this.startOf("fleet.yaml", command, ...args);

  /** Starts a command of another fleet file. */
  startOf(file: string, command: string, ...args: string[]): ChildProcess {
    const cli = join(root, "dist/cli/consortium.js");
    const words = command === "doctor" ? [command] : ["fleet", command];
    return spawn(process.execPath, [cli, ...words, file, ...args], {
      cwd: this.folder,
      env: this.env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: this.detached,
    });
  }

  run(command: string, ...args: string[]): Promise<Result> {
    return finished(this.start(command, ...args));
  }

  async json(command: string, ...args: string[]): Promise<{ code: number | null; text: string; summary: Summary }> {
    const { code, stdout, text } = await this.run(command, ...args, "--json");
    if (stdout === "") throw new Error(`fleet ${command} printed no document, but:\n${text}`);
    return { code, text, summary: JSON.parse(stdout) as Summary };
  }

  /** Runs `up` until the service has a call, and so many creates, and kills the fleet, or everything. */
  async killed(what: "fleet" | "everything", creates: number, ...args: string[]): Promise<void> {
    this.service.clearCalls();
    const running = this.start("up", "--yes", ...args);
    const end = finished(running);
    const made = () => this.service.calls.filter(({ method }) => method === "POST").length;
    await until(() => running.exitCode !== null || (this.service.calls.length > 0 && made() >= creates));
    if (running.exitCode !== null) throw new Error(`It ended before ${creates} creates:\n${(await end).text}`);
    const marks = this.records().map(markOf);
    running.kill("SIGKILL");
    if (what === "everything") await Promise.all(marks.map(endProcesses));
    await end;
  }

  /** Runs `up` after a kill: it continues, says so, and each organization has its network once. */
  async continues(): Promise<void> {
    const { code, summary } = await this.json("up", "--yes");
    expect({ code, ok: summary.ok }).toEqual({ code: 0, ok: true });
    expect(summary.stacks.some(({ recovered }) => recovered)).toBe(true);
    for (const name of ["acme", "globex"] as const) {
      // Of a pair whose password is lost a new one is made.
      expect(await this.counts(name)).toMatchObject({ ...exactly, appcreds: expect.any(Number) as number });
    }
    expect(this.records()).toEqual([]);
  }

  /** Which of the keys each process of a run has, once for each that was seen. */
  async keysDuring(run: ChildProcess): Promise<{ result: Result; seen: string[] }> {
    const seen = new Set<string>();
    const look = (): void =>
      this.records()
        .flatMap((record) => processesOf(markOf(record)))
        .forEach((pid) => seen.add(keysOf(pid)));
    const timer = setInterval(look, 200);
    const result = await finished(run).finally(() => clearInterval(timer));
    seen.delete(""); // of one that had ended by then
    return { result, seen: [...seen].sort() };
  }

  network = (organization: keyof typeof keys): Promise<Network> => networkOf(this.service.baseUrl, keys[organization]);

  counts = async (organization: keyof typeof keys): Promise<Record<string, number>> =>
    countsOf(await this.network(organization));

  /** Files of this folder that hold one of the secrets, but for the one that is there for it. @param others more secrets */
  leaks(others: readonly string[] = [], folder = this.folder): string[] {
    const secrets = [...Object.values(keys), passphrase, ...others];
    return entriesIn(folder).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return this.leaks(others, path);
      if (!entry.isFile() || entry.name === "globex.key") return [];
      return secrets.some((secret) => textIn(path).includes(secret)) ? [path] : [];
    });
  }

  /** The run records of stacks that are at work, or were left unfinished. */
  records(): string[] {
    const folder = join(this.folder, ".consortium/fleet/fleet/journal");
    const files = existsSync(folder) ? readdirSync(folder) : [];
    return files.filter((file) => file.endsWith(".json")).map((file) => join(folder, file));
  }

  /** The types in the state of a stack. */
  stateOf(stack: string): string {
    const file = join("state/.pulumi/stacks/fleet", `${stack}.json`);
    const { checkpoint } = JSON.parse(this.read(file)) as { checkpoint: { latest: { resources: { type: string }[] } } };
    return checkpoint.latest.resources.map(({ type }) => type).join("\n");
  }

  /** Files of the stacks in the backend, and their settings. */
  stacks(): string[] {
    const [state, work] = ["state/.pulumi/stacks", ".consortium/fleet/fleet"].map((path) => join(this.folder, path));
    const made = existsSync(state!) ? readdirSync(state!, { recursive: true }).map(String) : [];
    const settings = readdirSync(work!).filter((file) => /^Pulumi\..+\.yaml$/.test(file));
    return [...made.filter((file) => file.endsWith(".json")), ...settings];
  }

  has = (file: string): boolean => existsSync(join(this.folder, file));
  read = (file: string): string => readFileSync(join(this.folder, file), "utf8");
}

/* Of a run at work, files come and go. */
const entriesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []);

function textIn(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function keysOf(pid: number): string {
  const keys = secretsIn(textIn(`/proc/${pid}/environ`));
  return ["acme", "globex"].filter((name) => keys.some((key) => key.includes(name))).join("+");
}

/** After how many creates a run is killed. */
export const randomCreate = (): { creates: number; replay: string } => {
  const { numbers, replay } = drawn(1, { min: 1, max: 8 });
  return { creates: numbers[0]!, replay };
};

export const secretsIn = (text: string): string[] =>
  [...Object.values(keys), passphrase].filter((secret) => text.includes(secret));
