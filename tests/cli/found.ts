import { type Found, type ListedKind, type Shown } from "../../provider/resources/tree";

/** An object as it is read from a service. */
export const found = (kind: ListedKind, id: string, props: Shown, inside: Found[] = []): Found => ({
  kind,
  id,
  place: {},
  props,
  inside,
});
