import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { printable, printableLines } from "../api/printable";
import { check } from "../core/check";
import { type Definition, type Issue, nameOf, type Props } from "../core/definition";
import { diff } from "../core/diff";
import { Incomplete, messageOf, UserError } from "../core/errors";
import { inputsOf, isRecorded } from "../core/state";
import { lifecycle } from "../core/verbs";
import { environmentsKey, lostEnvironments } from "./environments";
import { checkSettings, type HostConfig, keepConfig, seenOrigins, session } from "./session";
import { previewKey } from "./stub";

const providerKey = "__provider";

/** How an unknown value of a preview arrives here (Pulumi's wire format), alone or inside of another value. */
const unknownMarker = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

function isUnknown(value: unknown): boolean {
  if (value === unknownMarker) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(isUnknown);
}

/** For some verbs the host prints `${error}: ${error.stack}` before the message, which says all there is to say. */
const printed = { title: "consortium", stack: "its error is shown with the resource" };
const print = console.error; // eslint-disable-line no-console -- the host's
// eslint-disable-next-line no-console
console.error = (...args: unknown[]): void => {
  if (args[0] !== `${printed.title}: ${printed.stack}`) print(...args);
};

/** An error as the host shows it: the message, and nothing of the inside of this package. */
class Refusal extends Error {
  constructor(error: unknown) {
    super(printableLines(messageOf(error)));
    this.name = "Error";
    this.stack = printed.stack;
  }
  override toString(): string {
    return printed.title;
  }
}

/** Kept in the state as "created, not ready": the host reads these three. It does not add `__provider` by itself. */
class NotReady extends Refusal {
  readonly id: string;
  readonly properties: Props;
  readonly reasons: string[];
  constructor(error: Incomplete, provider: unknown) {
    super(error);
    this.id = error.id;
    this.properties = { ...error.state, [providerKey]: provider };
    this.reasons = [this.message];
  }
}

/** What this adapter, or the program's side of it, adds to the inputs of a resource. */
const ownKeys = [providerKey, environmentsKey, previewKey];
const withoutProvider = (props: Props): Props =>
  Object.fromEntries(Object.entries(props).filter(([key]) => !ownKeys.includes(key)));

/** A preview makes no calls, so it cannot tell whether there is one; that it would be adopted, it can. `up` says what it found. */
function announceAdoption(definition: Definition, olds: Props, { adopt, name, orgName }: Props): void {
  if (Object.keys(olds).length > 0 || !adopt || isUnknown([adopt, name, orgName])) return;
  const which = typeof adopt === "string" ? printable(adopt) : "the one with this name, if there is one";
  // eslint-disable-next-line no-console -- shown in the preview
  console.log(`${nameOf(definition, { name, orgName })}: adopts ${which}`);
}

const notFound = (definition: Definition, id: string, state: Props): string => {
  const where = "place" in definition ? ` in ${definition.place(state).collection}` : "";
  return `${definition.type} "${id}" was not found${where}: check the id, and that the API key belongs to the organization that has it.`;
};

/** The verbs of one resource, as the dynamic provider host calls them. */
export interface Handler {
  configure(request: { config: HostConfig }): void;
  check(olds: Props, news: Props): Promise<{ inputs: Props; failures: Issue[] }>;
  diff(
    id: string,
    olds: Props,
    news: Props,
  ): Promise<{ changes: boolean; replaces: string[]; deleteBeforeReplace: boolean }>;
  create(inputs: Props): Promise<{ id: string; outs: Props }>;
  read(id: string, state: Props): Promise<{ id: string; props?: Props; inputs?: Props }>;
  update(id: string, olds: Props, news: Props): Promise<{ outs: Props }>;
  delete(id: string, state: Props): Promise<void>;
}

/** Lines of this process and answers to the engine go separate ways: a line that is to come first gets a head start. */
const headStartMs = 100;

/**
 * Nothing is lost on the way out: an incomplete object keeps its id and state, every other error its message. The engine heads that
 * of an incomplete one with "1 error occurred:", which says nothing, so the cause is printed ahead of it.
 */
async function guarded<T>(provider: unknown, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Incomplete)) throw new Refusal(error);
    const notReady = new NotReady(error, provider);
    // eslint-disable-next-line no-console -- the host shows what the provider process prints
    console.log(notReady.message);
    await setTimeout(headStartMs);
    throw notReady;
  }
}

export function handler(definition: Definition): Handler {
  return {
    configure: ({ config }) => keepConfig(config),

    check: (olds, news) =>
      guarded(undefined, () => {
        checkSettings();
        const { inputs, issues } = check(definition, withoutProvider(news), isUnknown);
        if (news[previewKey]) announceAdoption(definition, olds, inputs);
        // eslint-disable-next-line no-console -- shown in the preview, the one place to say it in time
        for (const line of lostEnvironments(olds, news)) console.log(line);
        const { [environmentsKey]: environments } = news;
        const kept = environments === undefined ? {} : { [environmentsKey]: environments };
        return Promise.resolve({ inputs: { ...inputs, ...kept }, failures: issues });
      }),

    diff: (id, olds, news) =>
      guarded(undefined, () => {
        seenOrigins().saw(definition, id, olds);
        const { warnings, ...difference } = diff(definition, withoutProvider(olds), withoutProvider(news));
        // eslint-disable-next-line no-console -- shown in the preview, the one place to say it in time
        for (const warning of warnings) console.log(`WARNING: ${warning}`);
        return Promise.resolve(difference);
      }),

    create: (inputs) =>
      guarded(inputs[providerKey], async () => {
        const { id, state } = await lifecycle.create(session(), definition, withoutProvider(inputs));
        return { id, outs: state };
      }),

    read: (id, state) =>
      guarded(state[providerKey], async () => {
        if (isRecorded(state)) seenOrigins().saw(definition, id, state);
        const props = await lifecycle.read(session(), definition, id, withoutProvider(state));
        if (!props && !isRecorded(state)) throw new UserError(notFound(definition, id, state));
        if (!props) return { id: "" };
        const [inputs, before] = [inputsOf(definition, props), inputsOf(definition, withoutProvider(state))];
        // Without drift the inputs stay what the program said, with what only this adapter knows of.
        return isDeepStrictEqual(inputs, before) ? { id, props } : { id, props, inputs };
      }),

    update: (id, olds, news) =>
      guarded(news[providerKey], async () => {
        seenOrigins().saw(definition, id, olds);
        const outs = await lifecycle.update(session(), definition, id, withoutProvider(olds), withoutProvider(news));
        return { outs };
      }),

    delete: (id, state) =>
      guarded(state[providerKey], () => {
        seenOrigins().saw(definition, id, state);
        return lifecycle.delete(session(), definition, id, withoutProvider(state));
      }),
  };
}
