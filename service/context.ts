import type { Keyring } from "./keys";
import type { Settings } from "./settings";
import type { Ledger } from "./ledger/ledger";
import type { Store } from "./store";
import type { Targets } from "./tether/targets";
import type { Tethering } from "./tether/tethering";
import type { Entity } from "./entities";

/** What every route works with. */
export interface Context {
  readonly store: Store;
  readonly keys: Keyring;
  readonly settings: Settings;
  readonly clock: () => number;
  /** `http://HOST:PORT` of this service, for whoever sent this Host header; known once it listens. */
  readonly origin: (asked?: string) => string;
  /** Says what whoever runs the service has to know. */
  readonly warn: (text: string) => void;
  /** The real chains of the environments, if there are any. */
  ledger?: Ledger | undefined;
  /** What tethers do on their target networks, if not simulated. */
  anchors?: Tethering | undefined;
  /** The networks that they pin to. */
  targets?: Targets | undefined;
  /** Why there are none. */
  noLedger: string;
  /** Hears of what is deleted, with all that was in it. */
  removed?: (entities: readonly Entity[]) => void;
}
