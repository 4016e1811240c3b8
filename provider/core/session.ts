import { type Clock, type ConsortiumClient } from "../api";
import { SharedLists } from "./lists";

/** What one provider process shares between all resources of one organization. */
export interface Session {
  client: ConsortiumClient;
  clock: Clock;
  lists: SharedLists;
  /** Shown to the user at once, under the row of the stack. */
  say(message: string): void;
  /** `CONSORTIUM_ADOPT`: every resource of this run takes over what already has its name. */
  adoptAll: boolean;
}

export const newSession = (parts: Omit<Session, "lists">): Session => ({
  ...parts,
  lists: new SharedLists(parts.client, parts.clock),
});
