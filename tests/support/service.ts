import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LoggedCreate } from "../../provider/core/create-log";
import { type Line } from "../../provider/pulumi/stack-log";
import { likeWhom } from "../../service/command/options";
import { type Service, type ServiceOptions, startService } from "../../service/index";
import { noting } from "./in-process";
import { type VirtualTime, virtualTime } from "./virtual-time";

export interface Started {
  service: Service;
  time: VirtualTime;
  /** Lines of the provider for the user. */
  said: string[];
  /** The calls since the last look, such as `POST /consortia/:consortiumId/environments`. */
  calls: () => string[];
}

/** A service like the hosted one, as it is assumed to be, or as TEST_LIKE has it: a file of `consortium probe`. */
export const hostedAnswers = likeWhom(process.env.TEST_LIKE ?? "hosted").answers!;

const running: Service[] = [];
const before = { ...process.env };

export function setEnvironment(variables: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

/** Starts a service, and points the settings of this process to it. It ends with the test. */
export async function startAnother(options: ServiceOptions = {}): Promise<Service> {
  const service = await startService(options);
  running.push(service);
  const home = join(tmpdir(), `state-${randomUUID()}`); // for logs of creates: nobody else's
  setEnvironment({
    CONSORTIUM_API_KEY: service.apiKey,
    CONSORTIUM_BASE_URL: service.baseUrl,
    XDG_STATE_HOME: home,
  });
  return service;
}

/** The same, where the provider's calls take no socket. */
export async function startNear(options: ServiceOptions = {}): Promise<Started> {
  const [started, near] = await noting(() => start(options));
  started.time.near = near;
  return started;
}

/** Starts a service in virtual time, and points the settings of this process to it. Both end with the test. */
export async function start(options: ServiceOptions = {}): Promise<Started> {
  const time = virtualTime();
  const service = await startAnother({ clock: time.wall, ...options });
  const said: string[] = [];
  jest.spyOn(console, "log").mockImplementation((line: string) => void said.push(line));
  const calls = (): string[] => {
    const seen = service.calls.map(({ method, route }) => `${method} ${route}`);
    service.clearCalls();
    return seen;
  };
  return { service, time, said, calls };
}

let processes = 0;

/** Another command is another provider process, with these variables: its session knows nothing of earlier ones. */
export function newProcess(variables: Record<string, string | undefined> = {}): void {
  setEnvironment(variables);
  process.env.CONSORTIUM_REQUEST_TIMEOUT = String(
    Number(process.env.CONSORTIUM_REQUEST_TIMEOUT ?? 30) + ++processes / 1e6,
  );
}

const logFolder = (): string => join(process.env.XDG_STATE_HOME!, "pulumi-consortium", "creates");

/** The logs of creates that killed runs have left. */
export const createLogs = (): string[] => {
  try {
    const all = readdirSync(logFolder(), { recursive: true, encoding: "utf8" });
    return all.filter((name) => name.endsWith(".jsonl")).map((name) => join(logFolder(), name));
  } catch {
    return [];
  }
};

const linesOf = (file: string): Line[] =>
  readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line) as Line); // prettier-ignore

/** Changes the logs, as if the killed runs had written other lines. */
function rewriteLogs(change: (line: Line) => Line[]): void {
  for (const file of createLogs()) {
    const lines = linesOf(file).flatMap(change);
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }
}

/** From here on, the killed runs have seen no answer to these creates. Default: to none. */
export function loseAnswers(isLost: (create: LoggedCreate) => boolean = () => true): void {
  const begun = createLogs().flatMap(linesOf).flatMap((line) => ("begun" in line && isLost(line.begun) ? [line.begun.attempt] : [])); // prettier-ignore
  rewriteLogs((line) => ("made" in line && begun.includes(line.made) ? [] : [line]));
}

afterEach(async () => {
  for (const name of Object.keys(process.env))
    if (/^(CONSORTIUM|OTEL)_|^TRACEPARENT$/.test(name)) delete process.env[name];
  Object.assign(process.env, before);
  await Promise.all(running.splice(0).map((service) => service.close()));
});
