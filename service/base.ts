import type { Settings } from "./settings/options";
import type { Store } from "./store/store";

export interface Base {
  readonly store: Store;
  readonly settings: Settings;
  readonly clock: () => number;
  /** `http://HOST:PORT` of this service, for whoever sent this Host header; known once it listens. */
  readonly origin: (asked?: string) => string;
  /** Says what whoever runs the service has to know. */
  readonly warn: (text: string) => void;
}
