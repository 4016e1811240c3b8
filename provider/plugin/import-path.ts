import { type Definition, type Props } from "../core/definition";
import { type Session } from "../core/session";

/** What an import, or the `get` of a program, names: the object's own id, and where it is. */
export interface Located {
  id: string;
  state: Props;
}

/** Resolves a path such as `consortium/environment/node`. */
export function locate(_session: Session, _definition: Definition, id: string, known: Props): Promise<Located> {
  return Promise.resolve({ id, state: known });
}
