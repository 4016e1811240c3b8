import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FaultRule, type Service, type ServiceOptions, startService } from "../../service/index";
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

/** A fault without an answer is not awaited for long: only this takes real time. */
export function impatient({ kind }: Pick<FaultRule, "kind">): void {
  if (kind === "hang") setEnvironment({ CONSORTIUM_REQUEST_TIMEOUT: "1" });
}

let processes = 0;

/** Another command is another provider process, with these variables: its session knows nothing of earlier ones. */
export function newProcess(variables: Record<string, string | undefined> = {}): void {
  setEnvironment(variables);
  process.env.CONSORTIUM_REQUEST_TIMEOUT = String(
    Number(process.env.CONSORTIUM_REQUEST_TIMEOUT ?? 30) + ++processes / 1e6,
  );
}

afterEach(async () => {
  for (const name of Object.keys(process.env))
    if (/^(CONSORTIUM|OTEL)_|^TRACEPARENT$/.test(name)) delete process.env[name];
  Object.assign(process.env, before);
  await Promise.all(running.splice(0).map((service) => service.close()));
});
