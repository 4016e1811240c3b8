import { type Clock, type ConsortiumClient, type Deadline, noDeadline } from "../api";
import { Creates } from "./creates";
import { SharedLists } from "./lists";
import { Holdings, type Owner } from "./holdings";
import { type Origins } from "./origins";
import { Progress } from "./progress";

/** What one provider process shares between all resources of one organization. */
export interface Session {
  client: ConsortiumClient;
  clock: Clock;
  lists: SharedLists;
  /** Shown to the user at once, under the row of the stack. */
  say(message: string): void;
  /** `CONSORTIUM_ADOPT`: every resource of this run adopts what already has its name. */
  adoptAll: boolean;
  /** What the runs of this stack create, where that is written down. */
  creates: Creates;
  /** What the states that this process has seen say of the organization that they were made with. */
  origins: Origins;
  /** What the resources of the program hold, as this process was shown it. */
  holdings: Holdings;
  /** The resource of the program that a verb is for, where the adapter knows it. */
  owner?: Owner;
  /** The provider that the program gives it: its name, "" for the default one; undefined: the adapter does not know. */
  provider?: string;
  /** Consortia that the key was proved to be right for. */
  proved: Set<string>;
  /** Who waits for what at present, told of together. */
  progress: Progress;
  /** When the verb that it is used for has to be done; retries and waiting included. */
  deadline: Deadline;
}

type Own = "lists" | "deadline" | "proved" | "progress" | "creates" | "holdings";

export const newSession = (parts: Omit<Session, Own> & Partial<Pick<Session, "creates" | "holdings">>): Session => ({
  creates: new Creates(),
  holdings: new Holdings(),
  ...parts,
  lists: new SharedLists(parts.client, parts.clock),
  proved: new Set(),
  progress: new Progress(parts.clock, parts.say),
  deadline: noDeadline,
});

/** The session for one verb, which has this much time in all. */
export function within(session: Session, ms: number): Session {
  const deadline: Deadline = { at: session.clock.now() + ms, limit: `${ms / 1000} s` };
  return { ...session, deadline, client: session.client.until(deadline), lists: session.lists.until(deadline) };
}
