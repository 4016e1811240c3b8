import type { Backend } from "./backend";
import type { Base } from "./base";
import type { Organizations } from "./store/organizations";

export interface Context extends Base {
  readonly organizations: Organizations;
  /** What stands behind nodes and tethers. */
  readonly backend: Backend;
}
