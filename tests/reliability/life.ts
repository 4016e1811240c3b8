import { wireName } from "../../provider/core/field";
import { lossWarnings } from "../../provider/constants";
import { sameValue } from "../../provider/core/values";
import { type FaultRule, type Service, type ServiceOptions } from "../../service/index";
import { storeOf } from "../support/bases";
import { type Adapter } from "../support/double/provider";
import { type Run, Stack } from "../support/double/stack";
import { isSecret, type Props, revealed } from "../support/double/wire";
import { network, type Network, others, type Others, send } from "../support/network";
import { setEnvironment, startNear, type Started } from "../support/service";
import { ether } from "../support/tethered";
import { type Elements, type Fixture, fixtures, type Kind, programOf, secrets, tethers } from "./kinds";

/*
 * The life of two resources of one kind: created, updated, read after others changed and deleted them, replaced, deleted, destroyed. In each
 * of these verbs, one call fails, once or more. After each, program, state and service agree, and nobody else's object is touched.
 */

export const verbs = ["create", "update", "read", "replace", "delete", "destroy"] as const;
export type Verb = (typeof verbs)[number];

export const manners = ["specification", "hosted", "403"] as const;
type Manner = (typeof manners)[number];

const optionsOf: Record<Manner, ServiceOptions> = {
  specification: {},
  hosted: { answers: { like: "hosted" }, timing: { listLag: 900 } },
  "403": { answers: { gone: 403 } },
};

export const faults = [
  { kind: "resetBefore" },
  { kind: "resetAfter" },
  { kind: "hang" },
  { kind: "hang", acted: true },
  { kind: "truncated" },
  { kind: "truncated", wellFormed: true },
  { kind: "html" },
  { kind: "html", acted: true },
  { kind: "html", status: 200, acted: true },
  { kind: "status", status: 429, retryAfter: 2 },
  { kind: "status", status: 500 },
  { kind: "status", status: 500, acted: true },
  { kind: "status", status: 503 },
  { kind: "status", status: 504, acted: true },
] as const satisfies FaultRule[];

/** What happens to the same call after the first fault: nothing, the same again, another fault, or the same until the run ends. */
export const sequels = ["once", "again", "another", "stays"] as const;
type Sequel = (typeof sequels)[number];

/** Call number `nth` of a method and a route in a run without faults. */
interface Call {
  method: string;
  route: string;
  nth: number;
}

/** One case: what goes wrong in a verb. */
export interface Case {
  call: Call;
  fault: number;
  sequel: Sequel;
}

/** The result of a verb. */
export interface Outcome {
  verb: Verb;
  at?: Case | undefined;
  /** The calls of the run. */
  calls: Call[];
  /** Why it has stopped, if it has: the next run went on. */
  stopped: string[];
}

export interface Setting {
  kind: Kind;
  manner: Manner;
  adapter: Adapter;
}

/** The text of a case, to find it in a failure and to run it again. */
export const textOf = ({ call, fault, sequel }: Case): string =>
  `${call.method} ${call.route} #${call.nth}: ${JSON.stringify(faults[fault])} ${sequel}`;

type World = Started & {
  setting: Setting;
  net: Network & Others;
  stack: Stack;
  theirs: Map<string, string>;
  logged: string[];
};

const storesOf = ({ store }: Service) =>
  Object.values(store) as { list(): { id: string; kind: string; fields: Props }[] }[];

/** Every object of the service but the tethers, which exist before their resources. */
function objects(service: Service): Map<string, string> {
  const all = storesOf(service).flatMap((store) => store.list());
  const text = (one: object): string =>
    JSON.stringify(one, (key, value: unknown) => (key === "accountOwners" ? undefined : value)); // of its nodes, not of itself
  return new Map(all.filter(({ kind }) => kind !== "tether").map((one) => [one.id, text(one)]));
}

/** A service without a call to delete a zone keeps it. */
const stays = ({ kind, manner }: Setting): boolean => manner === "hosted" && kind.endsWith("Zone");

async function begin(setting: Setting): Promise<World> {
  jest.restoreAllMocks();
  const funds = { rinkeby: ether, mainnet: ether };
  const all = tethers.map((id) => ({ id, environment: "main", funds }));
  const options = optionsOf[setting.manner];
  const started = await startNear({
    ...options,
    tethers: all,
    limits: { consortia: 20, environments: 20, nodes: 20 },
    answers: { ...options.answers },
  });
  const { service, time } = started;
  const net = await network(service, time);
  const more = await others(service, time, net);
  setEnvironment({ CONSORTIUM_NOT_DEPLOYED: undefined });
  const logged: string[] = [];
  return {
    ...started,
    setting,
    net: { ...net, ...more },
    stack: new Stack(setting.adapter),
    theirs: objects(service),
    logged,
  };
}

export type Cases = Partial<Record<Verb, Case>>;

/**
 * Lives once.
 * @param cases what goes wrong, by verb. undefined: nothing does, and only the calls are of interest
 * @returns what was seen @throws where something was lost, doubled or taken
 */
export async function live(setting: Setting, given?: Cases): Promise<Outcome[]> {
  const [world, cases] = [await begin(setting), given ?? {}];
  const { service, stack, time, net } = world;
  const fixture: Fixture = fixtures[setting.kind](net);
  const outcomes: Outcome[] = [];
  const program = (elements: readonly Props[]) => programOf(fixture.type, elements);

  let earlier: readonly Props[] = [];
  const step = async (verb: Verb, elements: readonly Props[], act: () => Promise<Run>): Promise<void> => {
    const at = cases[verb];
    try {
      outcomes.push(await during(world, { verb, at, isQuick: !given, elements, earlier, act }));
      earlier = elements;
    } catch (error) {
      const calls = service.calls.map((call) => `${call.method} ${call.path} ${call.fault ?? call.status}`);
      (error as Error).message =
        `${setting.kind}, ${setting.manner}, ${setting.adapter}, ${verb}, ${at ? textOf(at) : "no fault"}:\n` +
        `${(error as Error).message}\n${calls.join("\n")}`;
      throw error;
    }
  };
  const up = (elements: readonly Props[]) => () => stack.up(program(elements));

  try {
    await step("create", fixture.made, up(fixture.made));
    await step("update", fixture.changed, up(fixture.changed));
    await meddle(world);
    await step("read", fixture.changed, () => stack.refresh());
    await step("replace", fixture.replaced, up(fixture.replaced));
    if (stays(setting) && cases.destroy) return outcomes.concat(await left());
    await step("delete", [], up([]));
    if (stays(setting)) return outcomes;
    const again: Elements = fixture.made;
    expect(await stack.up(program(again))).toMatchObject({ errors: [] });
    time.pass(pauseMs);
    return outcomes.concat(await left());
  } finally {
    await service.close();
  }

  async function left(): Promise<Outcome[]> {
    await step("destroy", [], () => stack.destroy());
    return [];
  }
}

/** Long enough for lists to catch up: people do not follow on faster. */
const pauseMs = 3_000;

/** Others delete the first one and change the second. */
async function meddle({ service, stack, setting: { kind }, net, time }: World): Promise<void> {
  const [a, b] = [stack.of("a").id, stack.of("b").id];
  if (kind === "tetherService") {
    await send(service, "POST", `/tether/${a}/deactivate`, {});
    await send(service, "POST", `/tether/${b}/deactivate`, {});
  } else if (kind === "destination") {
    const place = `/documentstore/${net.documentsId}/destinations`;
    await send(service, "DELETE", `${place}/${a}`);
    await send(service, "PUT", `${place}/${b}`, { name: b, kaleido_managed: false });
  } else {
    const store = storeOf(service, kind);
    store.remove(a);
    store.patch(b, { [["membership", "invitation"].includes(kind) ? "org_name" : "name"]: "theirs" });
  }
  time.pass(60_000);
}

interface Step {
  verb: Verb;
  at: Case | undefined;
  /** Whether only its calls are of interest. */
  isQuick: boolean;
  /** What the program has, and what it had before. */
  elements: readonly Props[];
  earlier: readonly Props[];
  act: () => Promise<Run>;
}

/** Runs a verb with its fault, and what follows until all agree. */
async function during(world: World, { verb, at, isQuick, elements, earlier, act }: Step): Promise<Outcome> {
  const { service, stack, time, setting, said } = world;
  const { type } = fixtures[setting.kind](world.net);
  const program = programOf(type, elements);
  const again = (): Promise<Run> => (verb === "destroy" ? stack.destroy() : stack.up(program));
  const preview = isQuick || verb === "read" || verb === "destroy" ? undefined : await stack.preview(program);
  service.clearCalls();
  said.length = 0;

  const rules = at ? rulesOf(at).map((rule) => service.faults.add(rule)) : [];
  const run = await act();
  service.faults.clear();
  if (at && rules[0]!.hits === 0) throw new Error("the fault hit no call");
  const calls = numbered(service.calls);
  const stopped = run.errors.map(({ message }) => message);
  const texts = [run.failure, run.said, ...said];

  const mistakes: string[] = [];
  const wrong = (isWrong: boolean, what: string): void => void (isWrong && mistakes.push(what));

  // What the preview has announced is all that is replaced or deleted.
  if (preview) {
    const losses = run.changes.filter((step) => /^delete /.test(step) && !preview.changes.includes(step));
    wrong(losses.length > 0, `not announced: ${losses.join(", ")}`);
    const warning = (lossWarnings as Record<string, string>)[`replace${type}`];
    if (verb === "replace" && warning) {
      // Of the object itself the adapter tells; of one that leaves the program, the verb that deletes it.
      const told = preview.said.split(warning).length - 1;
      wrong(told < 2, `the preview tells of ${told} losses of 2`);
    }
  }

  time.pass(pauseMs);
  if (stopped.length > 0) {
    // It has lost nothing, and the next run, with what the error names, completes it.
    const words = [...run.failure.matchAll(/CONSORTIUM_NOT_DEPLOYED=(\S+)/g)].map(([, word]) => word);
    const word = words.length > 0 ? words.join(",") : undefined;
    setEnvironment({ CONSORTIUM_NOT_DEPLOYED: word });
    // A change may have been made without an answer: whoever takes it back gets what there was.
    if (verb === "update" && word === undefined) {
      const back = await stack.up(programOf(type, earlier));
      wrong(back.errors.length > 0, `the way back fails: ${back.failure}`);
      time.pass(pauseMs);
      mistakes.push(...differences(world, earlier));
    }
    const next = verb === "read" ? await stack.refresh() : await again();
    setEnvironment({ CONSORTIUM_NOT_DEPLOYED: undefined });
    wrong(next.errors.length > 0, `after the error ${run.failure}\nthe next run fails: ${next.failure}`);
    texts.push(next.failure, next.said);
    time.pass(pauseMs);
  }
  if (verb === "read") {
    const kept = [...stack.resources.keys()].join();
    const isGone = setting.kind !== "tetherService";
    wrong(kept !== (isGone ? "b" : "a,b"), `after the refresh, the state has ${kept}`);
    const healed = await again();
    wrong(healed.errors.length > 0, `the up after the refresh fails: ${healed.failure}`);
    const steps = healed.changes
      .map((step) => step.replace(/ \w+ /, " "))
      .sort()
      .join(", ");
    const drifts = setting.kind === "tetherService" ? "update a, update b" : "create a, update b";
    wrong(steps !== drifts, `after the drift, the steps are ${steps}`);
    time.pass(pauseMs);
  }

  // A second run changes nothing, with a refresh and without.
  if (verb !== "destroy" && !isQuick) {
    const same = await stack.up(program);
    wrong(same.changes.length + same.errors.length > 0, `a second up does ${same.changes.join()} ${same.failure}`);
    const refreshed = await stack.up(program, { refresh: true });
    texts.push(same.said, refreshed.said);
    wrong(
      refreshed.changes.length + refreshed.errors.length > 0,
      `an up with refresh does ${refreshed.changes.join()} ${refreshed.failure}`,
    );
  }
  const whys = stopped.map((one) => {
    const known = stops.find(({ says }) => says.test(one));
    wrong(!(known && at && known.mayStop(at)), `stops, although it need not: ${one}`);
    return known?.why ?? one;
  });
  dropLeftPairs(world, texts);
  mistakes.push(...differences(world, elements), ...told(world, texts));
  if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
  return { verb, at, calls, stopped: [...new Set(whys)] };
}

/** The faults of a case, in their order. */
function rulesOf({ call: { nth, ...target }, fault, sequel }: Case): FaultRule[] {
  const rule = faults[fault]!;
  const first = { ...rule, ...target, nth };
  // An entry that has hit its call lets the next one have the following call.
  const second = { ...target, nth: nth + 1 };
  if (sequel === "again") return [{ ...first, times: 2 }];
  if (sequel === "stays") return [{ ...first, times: Infinity }];
  if (sequel === "another") return [first, { ...faults[(fault * 5 + 3) % faults.length]!, ...second }];
  return [first];
}

/** Calls with their numbers among those of the same method and route. */
function numbered(calls: Service["calls"]): Call[] {
  const seen = new Map<string, number>();
  return calls.map(({ method, route }) => {
    const nth = (seen.get(method + route) ?? 0) + 1;
    seen.set(method + route, nth);
    return { method, route, nth };
  });
}

/**
 * Errors with which a run may stop: what they say, and where. A fault that lasts as long as the run is none that it could wait for. Without
 * an answer to a deployment, nobody can know whether it was paid for.
 */
const stops: { why: string; says: RegExp; mayStop: (at: Case) => boolean }[] = [
  { why: "deployed?", says: /CONSORTIUM_NOT_DEPLOYED=/, mayStop: ({ call }) => call.route.endsWith("/deploy") },
  { why: "no time", says: /limit is \d+ s|which is the limit/, mayStop: ({ sequel }) => sequel === "stays" },
  {
    why: "trouble",
    says: /having problems: run the same command again later/,
    mayStop: ({ sequel }) => sequel === "stays",
  },
  { why: "no API", says: /Check that \S+ .* is the address of the API/, mayStop: ({ sequel }) => sequel === "stays" },
];

/** Nobody can hold a pair whose answer is lost. Those that the run names, and leaves, are deleted by people. */
function dropLeftPairs({ service, stack, setting, theirs }: World, texts: string[]): void {
  if (setting.kind !== "appCred") return;
  const kept = new Set([...stack.resources.values()].map(({ id }) => id));
  for (const { id } of service.store.credentials.list())
    if (!kept.has(id) && !theirs.has(id) && texts.some((text) => text.includes(id)))
      service.store.credentials.remove(id);
}

/** Where program, state and service do not agree, or somebody else's object has changed. */
function differences({ service, stack, setting, theirs }: World, elements: readonly Props[]): string[] {
  const found: string[] = [];
  const now = objects(service);
  for (const [id, text] of theirs)
    if (now.get(id) !== text) found.push(`${id} of other people was ${text}, and is ${now.get(id) ?? "gone"}`);
  const kept = [...stack.resources.values()];
  if (stack.state.some((one) => one.delete || one.pendingReplacement)) found.push("the state has rows to be deleted");
  if (kept.some(({ initErrors }) => initErrors.length > 0)) found.push("the state has resources that are not ready");
  if (
    kept
      .map(({ name }) => name)
      .sort()
      .join("") !== "ab".slice(0, elements.length)
  )
    found.push(`the state has ${kept.map(({ name }) => name).join()}`);

  const founded = service.store.memberships.list().filter(({ fields }) => fields.founding);
  const mine = (id: string): boolean => !theirs.has(id) && !founded.some((one) => one.id === id);
  const all = storesOf(service).flatMap((store) => store.list());
  if (setting.kind === "tetherService") {
    const paid = service.store.tethers.list().map(({ id, fields }) => [id, fields.deployments, fields.active] as const);
    for (const [id, deployments, active] of paid) {
      for (const [name, count] of Object.entries(deployments))
        if (count > 1) found.push(`${id} was paid ${count} times on ${name}`);
      if (active && !kept.some((one) => one.id === id)) found.push(`${id} still pins`);
    }
  } else {
    const there = [...now.keys()].filter(mine).sort();
    const known = kept.map(({ id }) => (setting.kind === "destination" ? idOfDestination(service, id) : id)).sort();
    const lost = known.filter((id) => !there.includes(id));
    const extra = there.filter((id) => !known.includes(id));
    if (lost.length > 0) found.push(`the service does not have ${lost.join()}`);
    if (extra.length > 0 && !stays(setting))
      found.push(`the service has ${extra.map((id) => now.get(id)).join()} besides`);
  }
  for (const [at, args] of elements.entries()) {
    const row = kept.find(({ name }) => name === "ab"[at]);
    if (!row) continue;
    const outputs = revealed(row.outputs);
    const id = setting.kind === "destination" ? idOfDestination(service, row.id) : row.id;
    const entity = all.find((one) => one.id === id);
    for (const [key, value] of Object.entries(args)) {
      if (!sameValue(outputs[key], value))
        found.push(`${row.name}: ${key} is ${JSON.stringify(outputs[key])} in the state`);
      const shown = entity?.fields[key === "intervalHours" ? "interval" : wireName(key)];
      if (shown !== undefined && !sameValue(shown, value))
        found.push(`${row.name}: ${key} is ${JSON.stringify(shown)} in the service, not ${JSON.stringify(value)}`);
    }
    if (setting.kind === "appCred" && typeof outputs.password !== "string") found.push(`${row.name} has no password`);
  }
  return found;
}

const idOfDestination = (service: Service, name: string): string =>
  service.store.destinations.list().find(({ fields }) => fields.name === name)?.id ?? name;

/** Secrets that somebody can read: in messages, in the log, or in the state where it is not encrypted. */
function told({ service, stack, logged }: World, texts: string[]): string[] {
  const passwords = stack.state.flatMap(({ outputs }) => {
    const { password, basicAuthHeader } = revealed(outputs);
    return [password, basicAuthHeader].filter((one) => typeof one === "string");
  });
  const open = JSON.stringify(stack.state, (_, value: unknown) => (isSecret(value) ? "[secret]" : value));
  const all = [...texts, ...logged, open].join("\n");
  return [service.apiKey, ...secrets, ...passwords]
    .filter((one) => all.includes(one))
    .map((one) => `${one} can be read`);
}
