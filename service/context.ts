import type { Keyring } from "./store/api-keys";
import type { Settings } from "./settings/answers";
import type { Ledger } from "./ledger/real-ledger";
import type { Store } from "./store/store";
import type { Targets } from "./tether/targets";
import type { Tethering } from "./tether/tethering";
import type { Entity } from "./store/entities";

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
