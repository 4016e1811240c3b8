import type { Context as Domain } from "../context";
import type { Tokens } from "./authentication";

export interface Context extends Domain {
  readonly tokens: Tokens;
}
