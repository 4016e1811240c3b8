import { type Identified } from "../api";
import { type Definition, inputMeta, isOver, nameOf, type Place, type Props } from "./definition";
import { wireName } from "./field";
import { Listed } from "./listed";
import { type Session } from "./session";
import { fromWire } from "./state";
import { UserError } from "./user-error";
import { sameName, sameValue } from "./values";

/** Names shorter than this are not cut by any known service (characters). */
const shortestCut = 30;

/** The objects of one kind in one place, as their resource sees them. */
export class Collection extends Listed {
  constructor(
    session: Session,
    readonly definition: Definition,
    place: Place,
    /** Inputs or state of the object that the verb is about. */
    readonly inputs: Props,
    /** How messages name it. */
    readonly what: string,
  ) {
    super(session, place);
  }

  /** The collection of the object with these inputs or this state. */
  static of(session: Session, definition: Definition, props: Props, id?: string): Collection {
    const name = nameOf(definition, props);
    return new Collection(
      session,
      definition,
      definition.place(props),
      props,
      id === undefined ? name : `${name} (${id})`,
    );
  }

  error(text: string): UserError {
    return new UserError(`${this.what}: ${text}`);
  }

  say(text: string, weight = ""): void {
    this.session.say(`${weight}${this.what}: ${text}`);
  }

  warn(text: string): void {
    this.say(text, "Warning: ");
  }

  /** The properties of the object that the service shows. */
  shown(item: Identified): Props {
    return fromWire(this.definition, item);
  }

  /** The items that have the name in the inputs; if there are none, a shared one that fits them. */
  namesakes(items: Identified[]): Identified[] {
    const { inputs } = this;
    const { naming, shared } = this.definition;
    if (!naming) return [];
    // Unparsed, because it runs for all siblings of each create.
    const agrees = naming.map((key) => {
      const { normal = (value: unknown) => value } = inputMeta(this.definition, key)!;
      const [field, wanted] = [wireName(key), normal(inputs[key], inputs)];
      return (item: Identified) => sameValue(normal(item[field], inputs), wanted);
    });
    const named = items.filter((item) => !isOver(this.definition, item) && agrees.every((agree) => agree(item)));
    if (named.length > 0 || !shared?.isSame) return named;
    return items.filter((item) => shared.isSame!(inputs, this.shown(item)));
  }

  /**
   * The items that may stand for these inputs in a service that writes names in its own way. An exact match comes first, and an
   * item with exactly the name that another resource is to have belongs to that one.
   */
  namedLike(items: Identified[]): Identified[] {
    const exact = this.namesakes(items);
    return exact.length > 0 ? exact : this.#named(items, sameName);
  }

  /** Items with a long name that is the beginning of the one in the inputs: a service may truncate names silently. */
  cutNames(items: Identified[]): Identified[] {
    return this.#named(items, (name, wanted) => {
      const isText = typeof name === "string" && typeof wanted === "string";
      return isText && name.length >= shortestCut && name.length < wanted.length && wanted.startsWith(name);
    });
  }

  /** The items with a name that fits the one in the inputs, but not exactly one that another resource is to have. */
  #named(items: Identified[], fits: (name: unknown, wanted: unknown) => boolean): Identified[] {
    const { inputs, definition } = this;
    const [key, ...others] = definition.naming ?? [];
    if (key === undefined || others.length > 0) return [];
    const field = wireName(key);
    const { resource, run } = this.session;
    const isOthers = (name: unknown): boolean => run.leases.isWanted(definition, { ...inputs, [key]: name }, resource);
    return items.filter(
      (item) => !isOver(definition, item) && fits(item[field], inputs[key]) && !isOthers(item[field]),
    );
  }

  /** The name, as the service shows it. */
  nameIn(item: Identified): string {
    return (this.definition.naming ?? []).map((key) => String(item[wireName(key)])).join(" ");
  }
}
