import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type FactName } from "../../cli/probe/facts";
import { type Service, type ServiceOptions } from "../../service/index";
import { temporary } from "../fleet/made";
import { start } from "../service/helpers";
import { send } from "../support/network";
import { startAnother } from "../support/service";
import { type VirtualTime, virtualTime } from "../support/virtual-time";

/* Services for `consortium probe`, and their contents afterwards. */

const folder = temporary();
export const file = (name: string): string => join(folder, name);

const quick = { environmentStart: 300, nodeStart: 200, deletedVisible: 300 };

let time: VirtualTime | undefined;
afterEach(() => (time = undefined));

/** For processes. */
export const realService = async (options: ServiceOptions = {}): Promise<Service> =>
  (await start({ ...options, timing: { ...quick, ...options.timing } })).service;

/** In virtual time, which all of a test share; ledgers take real time. */
export async function serviceWith(options: ServiceOptions = {}): Promise<Service> {
  if (options.ledger) return realService(options);
  time ??= virtualTime();
  return startAnother({ clock: time.wall, ...options, timing: { ...quick, ...options.timing } });
}

/** Does something once the next call like this has its answer. */
export const when = (call: RegExp, act: () => unknown): void => time!.when(call, act);

/** An object of the organization that a probe must not touch. */
export async function own(service: Service): Promise<string> {
  const { _id } = await send(service, "POST", "/consortia", { name: "production" });
  service.clearCalls();
  return _id;
}

const kinds = ["consortia", "memberships", "environments", "nodes"] as const;
/** The ids of existing objects: neither deleted nor being deleted. */
export const there = ({ store }: Service): string[] =>
  kinds.flatMap((kind) => store[kind].list().filter(({ state }) => !/delet/.test(state))).map(({ id }) => id);
/** `consortium c1`, `membership m1`, …, in the order of creation. */
export const allOf = ({ store }: Service): string[] =>
  kinds.flatMap((kind) => store[kind].list().map(({ id, kind: name }) => `${name} ${id}`));
export const changes = ({ calls }: Service) => calls.filter(({ method }) => method !== "GET");
export const deletions = (service: Service): string[] =>
  changes(service)
    .filter(({ method, status }) => method === "DELETE" && status! < 300)
    .map(({ path }) => path.split("/").at(-2)!);

const lineOf = /^(as assumed|otherwise|not seen|) +([^:]+): (.*)$/gm;
/** question → answer */
export const answersIn = ({ stdout }: { stdout: string }): Record<string, string> =>
  Object.fromEntries([...stdout.matchAll(lineOf)].map(([, , question = "", answer = ""]) => [question, answer]));

export interface Saved extends Required<Pick<ServiceOptions, "answers" | "timing">> {
  seen: {
    ended?: string;
    facts: Record<FactName, { fact: string; is: string; seen: string }>;
    also: Record<string, string>;
    kinds: Record<string, { fields: string[]; states: string[] }>;
    refusals: { call: string; status: number; words?: string }[];
    latency: Record<string, { calls: number; median: number; most: number }>;
  };
}
export const saved = (name: string): Saved => JSON.parse(readFileSync(file(name), "utf8")) as Saved;

const duration = /(?<!within |[\d.])\d+(\.\d+)? m?s/g;
export const timeless = (answers: object): unknown => JSON.parse(JSON.stringify(answers).replace(duration, "T"));

/** What it says is left, in the order of deletion. */
export const leftIn = (stderr: string): string[] =>
  stderr.split("with `npx --no-install consortium sweep --id`:\n")[1]?.trim().split("\n").slice(0, -1) ?? []; // without the code
