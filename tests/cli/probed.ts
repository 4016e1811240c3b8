import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Service, type ServiceOptions, startService } from "../../service/index";
import { send } from "../support/network";

/* Services for `consortium probe`, and what it leaves there. */

const folder = mkdtempSync(join(tmpdir(), "probe-"));
export const file = (name: string): string => join(folder, name);
const running: Service[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.close();
});

const quick = { environmentStart: 300, nodeStart: 200, deletedVisible: 300 };

export async function serviceWith(options: ServiceOptions = {}): Promise<Service> {
  const service = await startService({ ...options, timing: { ...quick, ...options.timing } });
  running.push(service);
  return service;
}

/** Something of the organization's own, which no probe may touch. */
export async function own(service: Service): Promise<string> {
  const { _id } = await send(service, "POST", "/consortia", { name: "production" });
  service.clearCalls();
  return _id;
}

export const connection = ({ baseUrl, apiKey }: Pick<Service, "baseUrl" | "apiKey">) => ({
  CONSORTIUM_BASE_URL: baseUrl,
  CONSORTIUM_API_KEY: apiKey,
});

const kinds = ["consortia", "memberships", "environments", "nodes"] as const;
/** The ids of what is there: not deleted, and not on its way out. */
export const there = ({ store }: Service): string[] =>
  kinds.flatMap((kind) => store[kind].list().filter(({ state }) => !/delet/.test(state))).map(({ id }) => id);
/** `consortium c1`, `membership m1`, …, in the order of making. */
export const allOf = ({ store }: Service): string[] =>
  kinds.flatMap((kind) => store[kind].list().map(({ id, kind: name }) => `${name} ${id}`));
export const changes = ({ calls }: Service) => calls.filter(({ method }) => method !== "GET");
export const deletions = (service: Service): string[] =>
  changes(service)
    .filter(({ method, status }) => method === "DELETE" && status! < 300)
    .map(({ path }) => path.split("/").at(-2)!);

export async function until(isSo: () => boolean): Promise<void> {
  const end = Date.now() + 20_000;
  while (!isSo() && Date.now() < end) await new Promise((done) => setTimeout(done, 10));
  expect(isSo()).toBe(true);
}
