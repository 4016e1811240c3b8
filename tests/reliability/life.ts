import { wireName } from "../../provider/core/field";
import { lossWarnings } from "../../provider/constants";
import { sameValue } from "../../provider/core/values";
import { isObject } from "../../provider/plain";
import { type FaultRule, type Service, type ServiceOptions } from "../../service/index";
import { collectionOf, storeOf } from "../support/bases";
import { type Adapter } from "../support/double/provider";
import { type Run, Stack } from "../support/double/stack";
import { isSecret, type Props, revealed } from "../support/double/wire";
import { network, type Network, others, type Others, send } from "../support/network";
import { hostedAnswers, loseAnswers, setEnvironment, startNear, type Started } from "../support/service";
import { ether } from "../support/tethered";
import { rewriting } from "../support/virtual-time";
import { type Fixture, fixtures, type Kind, secrets, tethers } from "./kinds";
import * as model from "./model";
import { programOf, type Spec, typeOf } from "./shapes";

/*
 * The life of two resources of one kind, or of a network with two of everything: created, updated, read after others changed and deleted
 * some, replaced, adopted by a stack that has lost its state, deleted, created by a run that is killed, and destroyed. In each of these
 * verbs, one call fails, once or more. After each, program, state and service agree, and nobody else's object is touched.
 */

export const verbs = ["create", "update", "read", "replace", "adopt", "delete", "continue", "destroy"] as const;
export type Verb = (typeof verbs)[number];

export const manners = ["specification", "hosted", "403"] as const;
type Manner = (typeof manners)[number];

const optionsOf: Record<Manner, ServiceOptions> = {
  specification: {},
  hosted: { answers: hostedAnswers, timing: { listLag: 900 } },
  // Its lists are far behind, it merges objects, and does not show a tether.
  "403": { answers: { gone: 403 }, timing: { listLag: 2_900 } },
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
  fixture: Fixture;
  stack: Stack;
  theirs: Map<string, string>;
  /** Whether the stack has lost its state, and with it what it knew. */
  isLost: boolean;
};

interface Entity {
  id: string;
  kind: string;
  fields: Props;
}
const everything = ({ store }: Service): Entity[] =>
  (Object.values(store) as { list(): Entity[] }[]).flatMap((one) => one.list());

/** Every object of the service but the tethers, which exist before their resources. */
function objects(service: Service): Map<string, string> {
  const text = (one: object): string =>
    JSON.stringify(one, (key, value: unknown) => (key === "accountOwners" ? undefined : value)); // of its nodes, not of itself
  return new Map(everything(service).flatMap((one) => (one.kind === "tether" ? [] : [[one.id, text(one)] as const])));
}

/** A service without a call to delete a zone keeps it. */
const stays = ({ kind, manner }: Setting): boolean => manner === "hosted" && kind.endsWith("Zone");

async function begin(setting: Setting): Promise<World> {
  jest.restoreAllMocks();
  const { kind, manner } = setting;
  const funds = { rinkeby: ether, mainnet: ether };
  const started = await startNear({
    ...optionsOf[manner],
    tethers: tethers.map((id) => ({ id, environment: "main", funds })),
    limits: { consortia: 20, environments: 20, nodes: 20 },
  });
  const { service, time } = started;
  const own = await network(service, time);
  const net = { ...own, ...(await others(service, time, own)) };
  const fixture: Fixture = fixtures[kind](net);
  await namesakes(service, net, fixture.made);
  time.pass(pauseMs);
  if (manner === "403") likeNobody(service);
  setEnvironment({ CONSORTIUM_NOT_DEPLOYED: undefined, CONSORTIUM_ADOPT: undefined });
  return {
    ...started,
    setting,
    net,
    fixture,
    stack: new Stack(setting.adapter),
    theirs: objects(service),
    isLost: false,
  };
}

/** What other people have elsewhere under the same names. */
async function namesakes(service: Service, net: Network, specs: readonly Spec[]): Promise<void> {
  const beside = { consortiumId: "", environmentId: net.otherEnvironmentId };
  const isInEnvironment = specs[0]!.args.environmentId !== undefined;
  const [{ kind }] = specs as [Spec];
  if (kind === "consortium" || kind === "destination" || kind === "tetherService") return;
  beside.consortiumId = isInEnvironment
    ? net.consortiumId
    : (await send(service, "POST", "/consortia", { name: "elsewhere" }))._id;
  for (const { args } of specs) {
    const own = Object.entries(args).filter(([key]) => !/^(consortiumId|environmentId|zoneId|rotate.*)$/.test(key));
    const wire = Object.fromEntries(own.map(([key, value]) => [wireName(key), value]));
    await send(service, "POST", collectionOf(kind, beside), wire);
  }
}

/** The service merges objects, and does not show what a tether has. */
function likeNobody(service: Service): void {
  const merged = (was: unknown, now: unknown): unknown => {
    if (!isObject(now)) return now;
    const all = Object.entries({ ...(isObject(was) ? was : {}), ...now }).map(([key, value]) => [
      key,
      key in now && isObject(was) ? merged(was[key], value) : value,
    ]);
    return Object.fromEntries(all.filter(([, value]) => value !== null));
  };
  rewriting({
    request: (body, { method, url }) => {
      const change = JSON.parse(body) as Props;
      const before = everything(service).find(({ id }) => url.endsWith(`/${id}`));
      if (method !== "PATCH" || !before || !isObject(change.details)) return body;
      return JSON.stringify({ ...change, details: merged(before.fields.details, change.details) });
    },
    answer: (body, { method, url }) => (method === "GET" && /\/tether\/\w+$/.test(url) ? "null" : body),
  });
}

export type Cases = Partial<Record<Verb, Case>>;

/**
 * Lives once.
 * @param cases what goes wrong, by verb. In a life without any, each change is made twice
 * @returns what was seen @throws where something was lost, doubled or taken
 */
export async function live(setting: Setting, cases: Cases = {}): Promise<Outcome[]> {
  const world = await begin(setting);
  const { service, stack, time, fixture } = world;
  const { made, changed, replaced, adopted = replaced } = fixture;
  const outcomes: Outcome[] = [];

  let earlier: readonly Spec[] = [];
  const step = async (verb: Verb, elements: readonly Spec[], prepare?: () => unknown): Promise<void> => {
    const at = cases[verb];
    try {
      await prepare?.();
      const program = programOf(elements);
      outcomes.push(await during(world, { verb, at, elements, earlier, program }));
      earlier = elements;
    } catch (error) {
      const calls = service.calls.map((call) => `${call.method} ${call.path} ${call.fault ?? call.status}`);
      (error as Error).message =
        `${setting.kind}, ${setting.manner}, ${setting.adapter}, ${verb}, ${at ? textOf(at) : "no fault"}:\n` +
        `${(error as Error).message}\n${calls.join("\n")}`;
      throw error;
    }
  };
  const isClean = Object.keys(cases).length === 0;

  try {
    await step("create", made);
    for (const elements of isClean ? [changed, made] : [])
      expect(await stack.up(programOf(elements))).toMatchObject({ errors: [] });
    await step("update", changed);
    await step("read", changed, () => meddle(world));
    await step("replace", replaced);
    // The state is lost, and each object is adopted: by its id where it is to get another name.
    const lost = new Map([...stack.resources].map(([key, { id }]) => [key, id]));
    const isAdopting = !["appCred", "tetherService", "network"].includes(setting.kind);
    const adopting = adopted.map((one) =>
      isAdopting ? { ...one, args: { ...one.args, adopt: lost.get(one.key) } } : one,
    );
    // Zones are everybody's: they would stay. And nobody knows whether a tether has a contract that is not shown.
    if (!setting.kind.endsWith("Zone") && !isHidden(setting))
      await step("adopt", adopting, () => {
        stack.state = [];
        world.isLost = true;
        if (setting.kind === "network") setEnvironment({ CONSORTIUM_ADOPT: "true" });
      });
    setEnvironment({ CONSORTIUM_ADOPT: undefined });
    await step("delete", []);
    if (stays(setting) || isHidden(setting)) return outcomes;
    await step("continue", made, async () => {
      expect(await stack.up(programOf(made), { killed: true })).toMatchObject({ errors: [] });
      stack.state = [];
      loseAnswers(({ resource }) => "acemp".includes(resource ?? ""));
      time.pass(pauseMs);
    });
    await step("destroy", []);
    return outcomes;
  } finally {
    await service.close();
  }
}

/** Long enough for lists to catch up: people do not follow on faster. */
const pauseMs = 6_000;

/** Others delete one and change another. */
async function meddle({ service, stack, setting, net, time }: World): Promise<void> {
  const { kind } = setting;
  const [gone, other] = driftOf(kind).map((key) => stack.of(key).id) as [string, string];
  if (isHidden(setting)) return;
  if (kind === "tetherService") {
    await send(service, "POST", `/tether/${gone}/deactivate`, {});
    await send(service, "POST", `/tether/${other}/deactivate`, {});
  } else if (kind === "destination") {
    const place = `/documentstore/${net.documentsId}/destinations`;
    await send(service, "DELETE", `${place}/${gone}`);
    await send(service, "PUT", `${place}/${other}`, { name: other, kaleido_managed: false });
  } else {
    storeOf(service, kind === "network" ? "node" : kind).remove(gone);
    const store = storeOf(service, kind === "network" ? "environment" : kind);
    const { details } = store.get(other).fields as { details?: { limits: object } };
    const more = kind === "service" ? { details: { ...details, limits: { ...details!.limits, theirs: 1 } } } : {};
    store.patch(other, { [["membership", "invitation"].includes(kind) ? "org_name" : "name"]: "theirs", ...more });
  }
  time.pass(60_000);
}

/** Whether nobody could see what others change. */
const isHidden = ({ kind, manner }: Setting): boolean => kind === "tetherService" && manner === "403";

/** The resources that others delete and change. */
const driftOf = (kind: Kind): [gone: string, other: string] => (kind === "network" ? ["p", "e"] : ["a", "b"]);

interface Step {
  verb: Verb;
  at: Case | undefined;
  /** What the program has, and what it had before. */
  elements: readonly Spec[];
  earlier: readonly Spec[];
  program: () => void;
}

/** Runs a verb with its fault, and what follows until all agree. */
async function during(world: World, { verb, at, elements, earlier, program }: Step): Promise<Outcome> {
  const { service, stack, time, setting, said, fixture } = world;
  const again = (refresh = false): Promise<Run> =>
    verb === "destroy" ? stack.destroy() : stack.up(program, { refresh });
  const isAnnounced = !["read", "destroy"].includes(verb) && (!at || verb === "replace");
  const preview = isAnnounced ? await stack.preview(program) : undefined;
  service.clearCalls();
  said.length = 0;

  const rules = at ? rulesOf(at).map((rule) => service.faults.add(rule)) : [];
  const run = await (verb === "read" ? stack.refresh() : again());
  service.faults.clear();
  if (at && rules[0]!.hits === 0) throw new Error("the fault hit no call");
  const calls = numbered(service.calls);
  const stopped = run.errors.map(({ message }) => message);
  const texts = [run.failure, run.said, ...said];

  const mistakes: string[] = [];
  const wrong = (isWrong: boolean, what: string): void => void (isWrong && mistakes.push(what));
  const changes = ({ changes: steps }: Run): string => steps.toSorted().join(", ");

  // What the preview has announced is all that is replaced or deleted.
  if (preview) {
    const losses = run.changes.filter((step) => /^delete /.test(step) && !preview.changes.includes(step));
    wrong(losses.length > 0, `not announced: ${losses.join(", ")}`);
    wrong(!at && changes(run) !== changes(preview), `announced: ${changes(preview)}; done: ${changes(run)}`);
    const type = setting.kind === "network" ? "Environment" : typeOf(setting.kind);
    const warning = (lossWarnings as Record<string, string>)[`replace${type}`];
    if (verb === "replace" && warning) {
      // Of the object itself the adapter tells; of one that leaves the program, the verb that deletes it.
      const [wanted, told] = [fixture.losses ?? 2, preview.said.split(warning).length - 1];
      wrong(told < wanted, `the preview tells of ${told} losses of ${wanted}`);
    }
  }

  time.pass(pauseMs);
  if (stopped.length > 0) {
    // It has lost nothing, and the next run, with what the error names, completes it.
    const words = [...run.failure.matchAll(/CONSORTIUM_NOT_DEPLOYED=(\S+)/g)].map(([, word]) => word);
    const word = words.length > 0 ? words.join(",") : undefined;
    setEnvironment({ CONSORTIUM_NOT_DEPLOYED: word });
    // A change may have been made without an answer: whoever takes it back gets what there was.
    const isBack = verb === "update" && word === undefined && at!.call.method !== "PUT";
    if (isBack) {
      const back = await stack.up(programOf(earlier));
      wrong(back.errors.length > 0, `the way back fails: ${back.failure}`);
      time.pass(pauseMs);
      mistakes.push(...(await differences(world, earlier)));
    }
    const isRefreshed = !isBack && at!.fault % 2 === 1 && verb !== "create" && word === undefined;
    const next = verb === "read" ? await stack.refresh() : await again(isRefreshed);
    setEnvironment({ CONSORTIUM_NOT_DEPLOYED: undefined });
    wrong(next.errors.length > 0, `after the error ${run.failure}\nthe next run fails: ${next.failure}`);
    texts.push(next.failure, next.said);
    time.pass(pauseMs);
  }
  if (verb === "read") {
    const [gone, other] = driftOf(setting.kind);
    const left = elements.filter(({ key }) => key !== gone || setting.kind === "tetherService");
    const kept = [...stack.resources.keys()].toSorted().join();
    wrong(kept !== left.map(({ key }) => key).toSorted().join(), `after the refresh, the state has ${kept}`); // prettier-ignore
    const healed = await again();
    wrong(healed.errors.length > 0, `the up after the refresh fails: ${healed.failure}`);
    const steps = healed.changes.map((one) => one.replace(/ \w+ /, " ")).toSorted().join(", "); // prettier-ignore
    const drifts = `${setting.kind === "tetherService" ? "update" : "create"} ${gone}, update ${other}`;
    wrong(steps !== (isHidden(setting) ? "" : drifts), `after the drift, the steps are ${steps}`);
    // What they have added is theirs.
    const { details } = service.store.services.list().find(({ id }) => id === stack.of(other).id)?.fields ?? {};
    wrong(setting.kind === "service" && !JSON.stringify(details).includes("theirs"), "what others have added is gone");
    time.pass(pauseMs);
  }
  if (verb === "create" && fixture.rest) {
    const rest = await again();
    wrong(changes(rest) !== fixture.rest.join() && !at, `the rest of the creation is ${changes(rest)} ${rest.failure}`);
    time.pass(pauseMs);
  }
  mistakes.push(...notRestarted(service));

  // A second run changes nothing, with a refresh and without.
  if (verb !== "destroy") {
    const before = service.calls.length;
    for (const refresh of at ? [true] : [false, true]) {
      const same = await stack.up(program, { refresh });
      texts.push(same.said);
      wrong(
        same.changes.length + same.errors.length > 0,
        `a second up${refresh ? " with refresh" : ""} does ${same.changes.join()} ${same.failure}`,
      );
    }
    const writes = service.calls.slice(before).filter(({ method }) => method !== "GET");
    wrong(writes.length > 0, `a second up sends ${writes.map(({ method, path }) => `${method} ${path}`).join()}`);
  }
  const whys = stopped.map((one) => {
    const known = stops.find(({ says, mayStop }) => says.test(one) && at && mayStop(at));
    wrong(!known, `stops, although it need not: ${one}`);
    return known?.why ?? one;
  });
  dropLeftPairs(world, texts);
  mistakes.push(...(await differences(world, elements, verb !== "destroy")), ...told(world, texts));
  if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
  return { verb, at, calls, stopped: [...new Set(whys)] };
}

/** Changes that take effect after a restart, and were not followed by one with an answer. */
function notRestarted({ calls }: Service): string[] {
  const needs = /"(size|details|\w+_config_id)"/;
  const changed = calls.flatMap(({ method, path, body }, at) =>
    method === "PATCH" && /\/(nodes|services)\//.test(path) && needs.test(JSON.stringify(body))
      ? [[path, at] as const]
      : [],
  );
  return changed.flatMap(([path, at]) =>
    calls.some(
      (one, later) => later > at && one.method === "PUT" && one.path === `${path}/reset` && one.fault === undefined,
    )
      ? []
      : [`${path} was not restarted`],
  );
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

const isLimit = ({ fault }: Case): boolean => "retryAfter" in faults[fault]!;
const isPosted = ({ call }: Case, action: string): boolean => call.method === "POST" && call.route.endsWith(action);
const inTrouble = /\[(answer-lost|service-failed|too-many-calls):/;

/** Errors with which a run may stop: what they say, in which cases, and why there. In no other verb, and for no other fault. */
const stops: { why: string; says: RegExp; mayStop: (at: Case) => boolean }[] = [
  // An account is not made twice: without an answer, a person looks.
  { why: "account", says: inTrouble, mayStop: (at) => isPosted(at, "/account") },
  // Without an answer to a deployment, nobody can know whether it was paid for. A limit is an answer.
  {
    why: "deployed?",
    says: /CONSORTIUM_NOT_DEPLOYED=/,
    mayStop: (at) => isPosted(at, "/deploy") && !(isLimit(at) && at.sequel !== "another"),
  },
  // What lasts as long as the run is nothing that it could wait for: a limit for ten minutes or its time, anything else for six times.
  { why: "no time", says: /limit is \d+ s|which is the limit/, mayStop: ({ sequel }) => sequel === "stays" },
  { why: "trouble", says: inTrouble, mayStop: ({ sequel }) => sequel === "stays" },
  // A page in place of JSON is what a wrong address answers.
  {
    why: "no API",
    says: /Check that \S+ .* is the address of the API/,
    mayStop: ({ sequel, fault }) => sequel === "stays" && ["html", "truncated"].includes(faults[fault]!.kind),
  },
];

/** Nobody can hold a pair whose answer is lost. Those that the run names, and leaves, are deleted by people. */
function dropLeftPairs({ service, stack, theirs }: World, texts: string[]): void {
  const kept = new Set([...stack.resources.values()].map(({ id }) => id));
  for (const { id } of service.store.credentials.list())
    if (!kept.has(id) && !theirs.has(id) && texts.some((text) => text.includes(id)))
      service.store.credentials.remove(id);
}

/** Where program, state and service do not agree, or somebody else's object has changed. */
async function differences(world: World, elements: readonly Spec[], isRefreshed = false): Promise<string[]> {
  const { service, stack, setting, theirs } = world;
  const found: string[] = [];
  const now = objects(service);
  for (const [id, text] of theirs)
    if (now.get(id) !== text) found.push(`${id} of other people was ${text}, and is ${now.get(id) ?? "gone"}`);
  if (stack.state.some((one) => one.delete || one.pendingReplacement)) found.push("the state has rows to be deleted");
  const kept = [...stack.resources.values()];
  if (kept.some(({ initErrors }) => initErrors.length > 0)) found.push("the state has resources that are not ready");

  if (setting.kind === "tetherService") return found.concat(ofTethers(world, elements));
  if (setting.kind === "destination") return found.concat(ofDestinations(world, elements));
  const ids = kept.map(({ id }) => id);
  const founded = service.store.memberships.list().filter(({ fields, id }) => fields.founding && !ids.includes(id));
  const left = stays(setting) ? [...now.keys()].filter((id) => !ids.includes(id)) : [];
  const before = new Set([...theirs.keys(), ...founded.map(({ id }) => id), ...left]);
  return found.concat(await model.differences(service, stack, elements, before, isRefreshed));
}

/** The same of what is not in a list. */
function inState({ stack }: World, elements: readonly Spec[], fieldsOf: (id: string) => Props | undefined): string[] {
  const kept = stack.resources;
  const found = [...kept.keys()].toSorted().join() === elements.map(({ key }) => key).join() ? [] : [`the state has ${[...kept.keys()].join()}`]; // prettier-ignore
  for (const { key, args } of elements) {
    const [outputs, fields] = [revealed(kept.get(key)?.outputs ?? {}), fieldsOf(kept.get(key)?.id ?? "")];
    if (!fields) found.push(`the service does not have ${key}`);
    for (const [property, value] of Object.entries(args)) {
      const shown = fields?.[property === "intervalHours" ? "interval" : wireName(property)];
      if (!sameValue(outputs[property], value)) found.push(`${key}: ${property} is ${JSON.stringify(outputs[property])} in the state`); // prettier-ignore
      if (shown !== undefined && !sameValue(shown, value)) found.push(`${key}: ${property} is ${JSON.stringify(shown)} in the service`); // prettier-ignore
    }
  }
  return found;
}

function ofTethers(world: World, elements: readonly Spec[]): string[] {
  const { service, stack } = world;
  const all = service.store.tethers.list();
  const ids = [...stack.resources.values()].map(({ id }) => id);
  const found = inState(world, elements, (id) => all.find((one) => one.id === id)?.fields);
  for (const { id, fields } of all) {
    const known = [...stack.resources.values()].find((one) => one.id === id)?.outputs.deployedNetworks as unknown[];
    for (const [name, count] of Object.entries(fields.deployments)) {
      if (count > 1) found.push(`${id} was paid ${count} times on ${name}`);
      if (count > 0 && known && !world.isLost && !known.includes(name)) found.push(`${id}: the state forgets ${name}`);
    }
    if (fields.active && !ids.includes(id)) found.push(`${id} still pins`);
  }
  return found;
}

function ofDestinations(world: World, elements: readonly Spec[]): string[] {
  const all = world.service.store.destinations.list().filter(({ id }) => !world.theirs.has(id));
  const found = inState(world, elements, (id) => all.find(({ fields }) => fields.name === id)?.fields);
  return all.length === elements.length ? found : [...found, `the service has ${all.length} of them`];
}

/** Secrets that somebody can read: in messages, in the log, or in the state where it is not encrypted. */
function told({ service, stack }: World, texts: string[]): string[] {
  const passwords = stack.state.flatMap(({ outputs }) => {
    const { password, basicAuthHeader } = revealed(outputs);
    return [password, basicAuthHeader].filter((one) => typeof one === "string");
  });
  const open = JSON.stringify(stack.state, (_, value: unknown) => (isSecret(value) ? "[secret]" : value));
  const all = [...texts, open].join("\n");
  return [service.apiKey, ...secrets, ...passwords]
    .filter((one) => all.includes(one))
    .map((one) => `${one} can be read`);
}
