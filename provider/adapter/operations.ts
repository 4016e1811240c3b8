import { isDeepStrictEqual } from "node:util";
import { systemClock } from "../api/clock";
import { printable } from "../api/printable";
import { check } from "../core/check";
import { type Definition, type Issue, type Made, nameKey, nameOf, type Props, secretOutputs } from "../core/definition";
import { diff, type Difference } from "../core/diff";
import { type Owner } from "../core/holdings";
import { lifecycle } from "../core/lifecycle";
import { comparedWithoutCall, subjectOf } from "../core/organization";
import { type Session } from "../core/session";
import { inputsOf, isRecorded, isRewritten } from "../core/state";
import { Incomplete, UserError } from "../core/user-error";
import { lostEnvironments } from "./environments";
import { environmentsKey, logicalNameKey, ownKeys, previewKey, providerNameKey, secretsKey } from "../constants";
import { secretPaths } from "./secret-inputs";
import { type Sessions } from "./sessions";
import { isUnknown } from "./unknown";

/** Those that the state keeps among the inputs. */
const keptKeys: readonly string[] = [environmentsKey, logicalNameKey, providerNameKey, secretsKey];

/** The properties of the resource itself, without what an adapter, or the program's side of it, adds. */
const resourceOnly = (props: Props): Props =>
  Object.fromEntries(Object.entries(props).filter(([key]) => !ownKeys.includes(key)));

/** The keys among these that say something for later verbs. */
const keptOf = (props: Props, keys: readonly string[]): Props =>
  Object.fromEntries(keys.filter((key) => props[key] !== undefined).map((key) => [key, props[key]]));

export interface CheckedInputs {
  inputs: Props;
  failures: Issue[];
  /** What to show in the preview, the one place to say it in time. */
  lines: string[];
}

/** A preview makes no calls, so it cannot tell whether there is one; that it would be adopted, it can. `up` says what it found. */
export function adoptionOf(definition: Definition, { adopt, name, orgName }: Props): string[] {
  if (!adopt || isUnknown([adopt, name, orgName])) return [];
  const which = typeof adopt === "string" ? printable(adopt) : "the one with this name, if there is one";
  return [`${nameOf(definition, { name, orgName })}: adopts ${which}`];
}

const notFound = (definition: Definition, id: string, state: Props): string => {
  const where = "place" in definition ? ` in ${definition.place(state).collection}` : "";
  return `${definition.type} "${id}" was not found${where}: check the id, and that the API key belongs to the organization that has it.`;
};

/** The verbs of one resource, whichever adapter Pulumi calls them through. */
export class Operations {
  /** @param owner the resource of the program, where the request names it; else its inputs do */
  constructor(
    readonly definition: Definition,
    private readonly sessions: Sessions,
    private readonly owner?: Owner,
  ) {}

  /** Validates without a call; keeps what only Pulumi's side knows of. */
  check(olds: Props, news: Props): CheckedInputs {
    this.sessions.check();
    this.#hide(olds);
    this.#hide(news);
    const { inputs, issues } = check(this.definition, resourceOnly(news), isUnknown);
    const isNew = Object.keys(olds).length === 0;
    const lines = [
      ...(news[previewKey] && isNew ? adoptionOf(this.definition, inputs) : []),
      ...lostEnvironments(olds, news),
    ];
    const taken = issues.length > 0 ? [] : this.#declare(isNew, inputs, news);
    const { secrets } = this.sessions;
    const hidden = secretPaths(news).map(([key]) => key);
    // The engine prints the value of the property that a failure names.
    const failures = [...issues, ...taken].map(({ property, reason }) => ({
      property: hidden.includes(property.split(".")[0]) ? "" : property,
      reason: secrets.mask(reason),
    }));
    return {
      inputs: { ...inputs, ...keptOf(news, keptKeys) },
      failures,
      lines: lines.map((line) => secrets.mask(line)),
    };
  }

  /** What another resource of the program is already, this one cannot be. */
  #declare(isNew: boolean, inputs: Props, news: Props): Issue[] {
    const { definition } = this;
    const { holdings } = this.sessions.seen();
    holdings.shown(systemClock);
    const owner = this.#owner(news);
    if (!owner || isUnknown(inputs)) return [];
    const reason = holdings.declare(owner, definition, isNew, inputs);
    if (reason === undefined) return [];
    const property =
      definition.kind === "custom" ? definition.idKey : inputs.adopt === undefined ? nameKey(definition) : "adopt";
    return [{ property: property ?? "", reason }];
  }

  diff(id: string, olds: Props, news: Props): Difference {
    this.#saw(id, olds);
    this.#hide(news);
    const { warnings, ...difference } = this.#difference(id, olds, news);
    const moved = this.#compared(id, olds, news);
    return {
      ...difference,
      changes: difference.changes || moved !== undefined,
      warnings: [...warnings, ...(moved === undefined ? [] : [moved])].map((one) => this.sessions.secrets.mask(one)),
    };
  }

  /** What a preview can tell of the key; without one, it tells nothing. */
  #compared(id: string, olds: Props, news: Props): string | undefined {
    const settings = this.sessions.known();
    if (!settings) return undefined;
    const { origins } = this.sessions.seen();
    return comparedWithoutCall({ settings, origins, provider: this.#provider(news) }, this.definition, id, olds);
  }

  #difference(id: string, olds: Props, news: Props): Difference {
    const inputs = resourceOnly(news);
    const difference = diff(this.definition, resourceOnly(olds), inputs);
    const { holdings } = this.sessions.seen();
    holdings.shown(systemClock);
    const owner = this.#owner(news);
    // In a run, the engine asks with unknown values only to learn what a replacement takes along: the program may not have it any more.
    if (!owner || isUnknown(inputs)) return difference;
    const warning = holdings.hold(owner, this.definition, id, inputs, difference.replaces.length > 0);
    return warning === undefined ? difference : { ...difference, warnings: [...difference.warnings, warning] };
  }

  create(session: Session, inputs: Props): Promise<Made> {
    const owned = this.#within(session, inputs);
    return this.#remembering(inputs, () => lifecycle.create(owned, this.definition, resourceOnly(inputs)));
  }

  /** The session of one verb. */
  #within(session: Session, props: Props): Session {
    const [owner, provider] = [this.#owner(props), this.#provider(props)];
    return { ...session, ...(owner && { owner }), ...(provider !== undefined && { provider }) };
  }

  /** A state does not tell it: only what the program says. */
  #provider(props: Props): string | undefined {
    const { [logicalNameKey]: ofProgram, [providerNameKey]: name = "" } = props;
    return this.sessions.provider ?? (ofProgram === undefined || typeof name !== "string" ? undefined : name);
  }

  /** How messages of another resource call the one with these properties. */
  called(props: Props): string {
    const owner = this.#owner(props);
    return owner ? `${this.definition.type} "${owner.name}"` : nameOf(this.definition, props);
  }

  #owner({ [logicalNameKey]: given }: Props): Owner | undefined {
    if (this.owner) return this.owner;
    const [name, parents = ""]: unknown[] = [given].flat();
    if (typeof name !== "string") return undefined;
    return { key: JSON.stringify([this.definition.type, name, parents]), name };
  }

  /**
   * undefined: it is gone, and that was confirmed. `inputs` are there only where they drifted: without drift they stay what the
   * program said, with what only an adapter knows of.
   * @throws for an object that this stack never had: a wrong id is a mistake, not something that went.
   */
  async read(session: Session, id: string, state: Props): Promise<{ props: Props; inputs?: Props } | undefined> {
    if (isRecorded(state)) this.#saw(id, state);
    const props = await lifecycle.read(this.#within(session, state), this.definition, id, resourceOnly(state));
    if (!props && !isRecorded(state)) throw new UserError(notFound(this.definition, id, state));
    if (!props) return undefined;
    this.#hide(props);
    const [inputs, before] = [inputsOf(this.definition, props), inputsOf(this.definition, resourceOnly(state))];
    const kept = keptOf(state, [secretsKey]);
    const found = { ...props, ...kept };
    return isDeepStrictEqual(inputs, before) ? { props: found } : { props: found, inputs: { ...inputs, ...kept } };
  }

  async update(session: Session, id: string, olds: Props, news: Props): Promise<Props> {
    this.#saw(id, olds);
    const within = this.#within(session, news);
    const { state } = await this.#remembering(news, async () => {
      return {
        id,
        state: await lifecycle.update(within, this.definition, id, resourceOnly(olds), resourceOnly(news)),
      };
    });
    return state;
  }

  delete(session: Session, id: string, state: Props): Promise<void> {
    this.#saw(id, state);
    return lifecycle.delete(this.#within(session, state), this.definition, id, resourceOnly(state));
  }

  /** From now on nothing shows what is secret in these properties. */
  #hide(props: Props): void {
    this.sessions.hide(props, [...secretPaths(props), ...secretOutputs(this.definition).map((key) => [key])]);
  }

  /** Later verbs get the state that a verb leaves behind: it says what is secret in it. */
  async #remembering(inputs: Props, run: () => Promise<Made>): Promise<Made> {
    this.#hide(inputs);
    const kept = keptOf(inputs, [secretsKey]);
    try {
      const { id, state } = await run();
      return { id, state: { ...state, ...kept } };
    } catch (error) {
      if (!(error instanceof Incomplete)) throw error;
      this.#hide(error.state);
      throw new Incomplete(error.id, { ...error.state, ...kept }, error.cause);
    }
  }

  #saw(id: string, state: Props): void {
    this.#hide(state);
    const { origins } = this.sessions.seen();
    origins.saw(subjectOf(this.definition, id, state));
    if (isRewritten(state)) origins.rewritesNames = true;
  }
}
