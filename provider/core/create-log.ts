import { type Identified } from "../api";

/*
 * What the core needs of the log of creates. Each is logged before it is sent and again when it is answered: after a kill, only this tells
 * which objects are the stack's own. provider/pulumi/stack-log.ts keeps it.
 */

/** One create. Without an id, nobody saw its answer. */
export interface LoggedCreate {
  attempt: string;
  /** Path of the collection. */
  path: string;
  /** What identifies it there. */
  name?: string;
  /** The name that it was sent with, if that does not identify it. */
  called?: string;
  /** The logical name of the resource. */
  resource?: string;
  /** Ids that were there before. */
  before: string[];
  /** Fingerprint of the key and the address that it was sent with. */
  key: string;
  /** Wall-clock time when it was first sent. */
  at: number;
  /** The same by the service's own clock, if it tells the time. */
  serviceAt?: number;
  /** Both when it was sent again, for the last time. */
  last?: { at: number; serviceAt?: number };
  id?: string;
}

/** The creates of a stack. */
export interface Creates {
  /** Whether this run continues a killed one. */
  readonly isContinued: boolean;
  /** Creates of killed runs for that resource, in that place under that name, newest first. */
  interrupted(of: Pick<LoggedCreate, "path" | "name" | "resource">): LoggedCreate[];
  /** What other stacks have created there, or may have. */
  ofOtherStacks(path: string): { stack: string; create: LoggedCreate }[];
  /** The other stack that had the object with this path when it was last run on this machine. */
  holder(path: string): string | undefined;
  /**
   * Logs a create before it is sent, and its result after.
   * @param send calls what it is given right before each request
   * @param unsettled is around what is logged of the object: it is made by then, and nobody waits for it yet
   */
  logged(
    create: Pick<LoggedCreate, "path" | "name" | "called" | "resource" | "before">,
    send: (sending: (serviceAt: number | undefined) => Promise<void>) => Promise<Identified>,
    unsettled?: (log: () => Promise<void>) => Promise<void>,
  ): Promise<Identified>;
  /** Logs an object that the state loses now, and that is deleted with what it is in. */
  left(lost: Pick<LoggedCreate, "path" | "name" | "resource" | "id">): Promise<void>;
  /** Logs that this run continues with an object of a killed one. */
  continued(create: LoggedCreate, id: string): Promise<void>;
}

/** Outside a stack, nothing is logged. */
export const noLog: Creates = {
  isContinued: false,
  interrupted: () => [],
  ofOtherStacks: () => [],
  holder: () => undefined,
  logged: (_create, send) => send(() => Promise.resolve()),
  left: () => Promise.resolve(),
  continued: () => Promise.resolve(),
};
