import type { Keyring } from "./keys";
import type { Settings } from "./settings";
import type { Store } from "./store";

/** What every route works with. */
export interface Context {
  readonly store: Store;
  readonly keys: Keyring;
  readonly settings: Settings;
  readonly clock: () => number;
  /** `http://HOST:PORT` of this service; known once it listens. */
  readonly origin: () => string;
}
