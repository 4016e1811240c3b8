import { type Identified } from "../api";
import { type Definition, inputMeta, isOver, nameOf, type Place, type Props } from "./definition";
import { wireName } from "./field";
import { Listed } from "./listed";
import { type Session } from "./session";
import { fromWire } from "./state";
import { type ErrorCode, type ErrorDetails, UserError } from "../errors";
import { sameValue } from "./values";

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

  error(code: ErrorCode, text: string, details?: ErrorDetails): UserError {
    return new UserError(code, `${this.what}: ${text}`, details);
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
}
