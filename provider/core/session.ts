import { type Clock, type ConsortiumClient, type Deadline, noDeadline } from "../api";
import { type Caller, systemClock } from "../api/clock";
import { CreateLog } from "./create-log";
import { type ProgramResource } from "./leases";
import { Progress } from "./progress";
import { Run } from "./run";

/** The context of one verb. */
export interface Session {
  client: ConsortiumClient;
  clock: Clock;
  /** Everything this process knows. */
  run: Run;
  /** Shows a line at once, in the row of the stack. */
  say(message: string): void;
  /** `CONSORTIUM_ADOPT`: every resource of this run adopts what already has its name. */
  adoptAll: boolean;
  /** The creates of this stack. */
  createLog: CreateLog;
  /** Everything that this process waits for, reported together. */
  progress: Progress;
  /** When the verb must be done, retries and waits included. */
  deadline: Deadline;
  /** The resource of the program that the verb is for, if the adapter knows it. */
  resource?: ProgramResource;
  /** Whether the user has been asked about this very deletion, with everything that goes with it. */
  isAsked?: boolean;
}

/** A session outside any adapter: nothing is known before, nothing is adopted, and nothing is said. */
export function newSession(client: ConsortiumClient, given: Partial<Session> = {}): Session {
  const { clock = systemClock, say = () => undefined } = given;
  const progress = new Progress(clock, say);
  const run = new Run();
  const createLog = new CreateLog();
  return { client, clock, say, run, createLog, progress, adoptAll: false, deadline: noDeadline, ...given };
}

/** The time by the service's clock, if it tells that, in ms since 1970. */
export const serviceNow = ({ client, clock }: Session): number => client.http.serviceTime(clock.now()) ?? Date.now();

/** The session of one verb, which must end within this time. @param caller the verb and the resource, for the log */
export function within(session: Session, ms: number, caller?: Caller): Session {
  const limit = `${ms / 1000} s`;
  const deadline: Deadline = { at: session.clock.now() + ms, limit, setting: "customTimeouts", caller };
  return { ...session, deadline, client: session.client.until(deadline) };
}
