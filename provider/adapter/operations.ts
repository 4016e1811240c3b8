import { isDeepStrictEqual } from "node:util";
import { printable } from "../api/printable";
import { check } from "../core/check";
import { type Definition, type Issue, type Made, nameOf, type Props } from "../core/definition";
import { diff, type Difference } from "../core/diff";
import { lifecycle } from "../core/lifecycle";
import { subjectOf } from "../core/organization";
import { type Session } from "../core/session";
import { inputsOf, isRecorded } from "../core/state";
import { UserError } from "../core/user-error";
import { lostEnvironments } from "./environments";
import { environmentsKey, previewKey, programKey, providerKey } from "./keys";
import { type Sessions } from "./sessions";
import { isUnknown } from "./unknown";

const ownKeys = [providerKey, environmentsKey, previewKey, programKey];

/** The properties of the resource itself, without what an adapter, or the program's side of it, adds. */
const resourceOnly = (props: Props): Props =>
  Object.fromEntries(Object.entries(props).filter(([key]) => !ownKeys.includes(key)));

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
  constructor(
    readonly definition: Definition,
    private readonly sessions: Sessions,
  ) {}

  /** Validates without a call; keeps what only Pulumi's side knows of. */
  check(olds: Props, news: Props): CheckedInputs {
    this.sessions.check();
    const { inputs, issues } = check(this.definition, resourceOnly(news), isUnknown);
    const isNew = Object.keys(olds).length === 0;
    const lines = [
      ...(news[previewKey] && isNew ? adoptionOf(this.definition, inputs) : []),
      ...lostEnvironments(olds, news),
    ];
    const { [environmentsKey]: environments } = news;
    const kept = environments === undefined ? {} : { [environmentsKey]: environments };
    return { inputs: { ...inputs, ...kept }, failures: issues, lines };
  }

  diff(id: string, olds: Props, news: Props): Difference {
    this.#saw(id, olds);
    return diff(this.definition, resourceOnly(olds), resourceOnly(news));
  }

  create(session: Session, inputs: Props): Promise<Made> {
    return lifecycle.create(session, this.definition, resourceOnly(inputs));
  }

  /**
   * undefined: it is gone, and that was confirmed. `inputs` are there only where they drifted: without drift they stay what the
   * program said, with what only an adapter knows of.
   * @throws for an object that this stack never had: a wrong id is a mistake, not something that went.
   */
  async read(session: Session, id: string, state: Props): Promise<{ props: Props; inputs?: Props } | undefined> {
    if (isRecorded(state)) this.#saw(id, state);
    const props = await lifecycle.read(session, this.definition, id, resourceOnly(state));
    if (!props && !isRecorded(state)) throw new UserError(notFound(this.definition, id, state));
    if (!props) return undefined;
    const [inputs, before] = [inputsOf(this.definition, props), inputsOf(this.definition, resourceOnly(state))];
    return isDeepStrictEqual(inputs, before) ? { props } : { props, inputs };
  }

  update(session: Session, id: string, olds: Props, news: Props): Promise<Props> {
    this.#saw(id, olds);
    return lifecycle.update(session, this.definition, id, resourceOnly(olds), resourceOnly(news));
  }

  delete(session: Session, id: string, state: Props): Promise<void> {
    this.#saw(id, state);
    return lifecycle.delete(session, this.definition, id, resourceOnly(state));
  }

  #saw(id: string, state: Props): void {
    this.sessions.origins().saw(subjectOf(this.definition, id, state));
  }
}
