import type { Context as Domain } from "../context";
import type { Tokens } from "./authentication";

/** The context of the routes. */
export interface Context extends Domain {
  readonly tokens: Tokens;
}
