import { isDeepStrictEqual } from "node:util";
import { printable } from "../api/printable";
import { check } from "../core/check";
import { type Definition, type Issue, nameOf, type Props } from "../core/definition";
import { diff } from "../core/diff";
import { Incomplete, UserError } from "../core/user-error";
import { lifecycle } from "../core/lifecycle";
import { subjectOf } from "../core/organization";
import { inputsOf, isRecorded } from "../core/state";
import { environmentsKey, lostEnvironments } from "./environments";
import { isUnknown, notReady, providerKey, refusal } from "./pulumi-internals";
import { checkSettings, type HostConfig, keepConfig, seenOrigins, session } from "./session";
import { previewKey } from "./stub";

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

/** Nothing is lost on the way out: an incomplete object keeps its id and state, every other error its message. */
async function guarded<T>(provider: unknown, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw await (error instanceof Incomplete ? notReady(error, provider) : refusal(error));
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
        seenOrigins().saw(subjectOf(definition, id, olds));
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
        if (isRecorded(state)) seenOrigins().saw(subjectOf(definition, id, state));
        const props = await lifecycle.read(session(), definition, id, withoutProvider(state));
        if (!props && !isRecorded(state)) throw new UserError(notFound(definition, id, state));
        if (!props) return { id: "" };
        const [inputs, before] = [inputsOf(definition, props), inputsOf(definition, withoutProvider(state))];
        // Without drift the inputs stay what the program said, with what only this adapter knows of.
        return isDeepStrictEqual(inputs, before) ? { id, props } : { id, props, inputs };
      }),

    update: (id, olds, news) =>
      guarded(news[providerKey], async () => {
        seenOrigins().saw(subjectOf(definition, id, olds));
        const outs = await lifecycle.update(session(), definition, id, withoutProvider(olds), withoutProvider(news));
        return { outs };
      }),

    delete: (id, state) =>
      guarded(state[providerKey], () => {
        seenOrigins().saw(subjectOf(definition, id, state));
        return lifecycle.delete(session(), definition, id, withoutProvider(state));
      }),
  };
}
