import { type Identified } from "../api";
import { printable } from "../api/printable";
import { type Condition, isGone } from "../api/states";
import { traced } from "../api/trace";
import { codeOf, hasCode, Incomplete, UserError } from "../errors";
import { groupBy, messageOf } from "../plain";
import { type Collection, isForbidden } from "./collection";
import { conditionIn, inputKeys, inputMeta, nameKey, nameOf, type Props } from "./definition";
import { type Session } from "./session";
import { isReadable, lackedIn, readyStep, type StateParts, stateOf } from "./state";
import { times } from "./times";
import { isUnset } from "./values";

/* Waiting, and what is said meanwhile: one loop to the deadline (`waitFor`), one for a while (`lookFor`), and until an object is ready. */

/** The result of a look: done, or what the progress line says, such as the state. */
export type Look<T> = { done: T } | { waiting: string };

/** Soon at first, then at times that all siblings share, so that one list call serves them. */
function nextLookMs(looks: number, now: number, elapsed: number): number {
  const { steady, likely, likelyFrom, likelyTo } = times.waitEveryMs;
  const beat = elapsed >= likelyFrom && elapsed < likelyTo ? likely : steady;
  return times.firstWaitsMs[looks] ?? beat - (now % beat);
}

/**
 * Looks until done or until the session's deadline. Reports what it waits for when that changes, and otherwise ever more
 * rarely.
 * @param look may throw to end the wait at once
 * @param group those who wait for the same kind of thing in the same place share a line
 */
export const waitFor = <T>(session: Session, what: string, look: () => Promise<Look<T>>, group = what): Promise<T> =>
  traced(
    () => ({ name: "wait", attributes: { "consortium.waits_for": what } }),
    async (note) => {
      const { clock, deadline } = session;
      const start = clock.now();
      const progress = join(session, group, what);
      try {
        for (let looks = 0; ; looks++) {
          note?.({ "consortium.looks": looks + 1 });
          const found = await look();
          if ("done" in found) return found.done;
          const now = clock.now();
          if (now >= deadline.at)
            throw new UserError(
              "not-ready",
              `still ${found.waiting} after ${deadline.limit}, which is the limit (customTimeouts).`,
            );
          progress.look(found.waiting);
          await clock.sleep(Math.min(nextLookMs(looks, now, now - start), deadline.at - now));
        }
      } finally {
        progress.leave();
      }
    },
  );

/** Looks until a look finds enough, for so long at most, and not beyond the deadline. @returns what the last look found */
export async function lookFor<T>(
  { clock, deadline }: Pick<Session, "clock" | "deadline">,
  look: () => Promise<T>,
  isEnough: (seen: T) => boolean,
  { forMs, everyMs }: { forMs: number; everyMs: number },
): Promise<T> {
  const end = Math.min(clock.now() + forMs, deadline.at);
  for (;;) {
    const seen = await look();
    if (isEnough(seen) || clock.now() >= end) return seen;
    await clock.sleep(everyMs);
  }
}

const nextDue = (elapsed: number): number =>
  times.progressDueMs.find((due) => due > elapsed) ??
  (Math.floor(elapsed / times.progressDueMs.at(-1)!) + 1) * times.progressDueMs.at(-1)!;

const namesShown = 4;

/** Those that wait together, such as the nodes of an environment. */
interface Group {
  waiting: Map<symbol, { what: string; state: string }>;
  /** States that were reported already, or that somebody started in. */
  known: Set<string>;
  startedAt: number;
  dueMs: number;
}

/** Those who wait, by the callback that shows their lines. */
const groups = new WeakMap<Session["tell"], Map<string, Group>>();

/** Joins a group: one line tells of all that wait together. Call `look` after each look, and `leave` at the end. */
function join({ tell, clock }: Session, name: string, what: string): { look(state: string): void; leave(): void } {
  const known = groups.get(tell) ?? new Map<string, Group>();
  groups.set(tell, known);
  const group = known.get(name) ?? {
    waiting: new Map<symbol, { what: string; state: string }>(),
    known: new Set<string>(),
    startedAt: clock.now(),
    dueMs: times.progressDueMs[0]!,
  };
  known.set(name, group);
  const member = Symbol(what);
  return {
    look(state) {
      const isNew = !group.waiting.has(member);
      group.waiting.set(member, { what, state });
      const elapsed = clock.now() - group.startedAt;
      const changed = !group.known.has(state) && !isNew;
      group.known.add(state);
      if (!changed && elapsed < group.dueMs) return;
      group.dueMs = nextDue(elapsed);
      tell(`${summary(group)}, ${Math.round(elapsed / 1000)} s so far`);
    },
    leave() {
      group.waiting.delete(member);
      if (group.waiting.size === 0 && known.get(name) === group) known.delete(name);
    },
  };
}

function summary({ waiting }: Group): string {
  const parts = [...groupBy([...waiting.values()], ({ state }) => state)].map(([state, members]) => {
    const names = members.map(({ what }) => what);
    const more = names.length > namesShown ? ` and ${names.length - namesShown} more` : "";
    return `${names.slice(0, namesShown).join(", ")}${more}: ${state}`;
  });
  return parts.join("; ");
}

/** Every so many looks that do not find an object in the list, it is requested by id. */
const looksBeforeAsking = 4;

/** After this many looks at a ready object, a missing output counts as not shown at all. */
const looksForShownLater = 2;

/** The state after another look. Shown values of sent inputs count as the answer to them. */
export function seen(parts: StateParts, shown: Props, sent: readonly string[]): StateParts {
  const answers = sent.flatMap((key) => (shown[key] === undefined ? [] : [[key, shown[key]] as const]));
  return {
    ...parts,
    shown: { ...parts.shown, ...shown },
    answered: { ...parts.answered, ...Object.fromEntries(answers) },
  };
}

/** Whether a list lags behind what an answer said: revisions only rise. */
const isOlder = (listed: Props, known: Props): boolean => Number(listed.revision) < Number(known.revision);

/** Steps that a run took before it waits. */
interface Before {
  /** The inputs that it has sent. Default: all. */
  sent?: readonly string[];
  /** Whether what is known comes from a list. An answer may only repeat the request. Default: no. */
  isListed?: boolean;
  /** The earlier state, with keys that are no properties. Default: the inputs. */
  state?: Props;
  /** Whether something was taken out: then the list is read, too. */
  isRemoval?: boolean;
}

/**
 * Waits until the object is ready and everything about it is known.
 * @throws Incomplete with the last known state if it failed, vanished or took too long
 */
export async function settle(
  collection: Collection,
  id: string,
  known: StateParts,
  { sent = inputKeys(collection.definition), isListed = false, state = known.asked, isRemoval }: Before = {},
): Promise<Props> {
  const { session, definition } = collection;
  const what = nameOf(definition, known.asked);
  const begun = { ...known, open: known.open.filter((step) => step !== readyStep) };
  // The service may later show an input in another form than in its answer. A refresh tells for names.
  const mayDiffer = (key: string): boolean => {
    const meta = inputMeta(definition, key)!;
    return isReadable(meta) && !meta.parent && key !== nameKey(definition) && !isUnset(known.asked[key]);
  };
  const watched = new Settling(collection, id, seen(begun, known.shown, sent), sent);
  try {
    await session.run.settling(collection.parentPath, () =>
      waitFor(session, what, () => watched.look(), collection.path),
    );
    if (!isListed && (isRemoval === true || sent.some(mayDiffer))) await watched.confirm();
    nameUnknown(collection, watched.parts.shown);
    return stateOf(definition, watched.parts, state);
  } catch (error) {
    const kept = "Run `pulumi up` again to continue. It exists and is kept in the state, but is not ready:";
    const text = hasCode(error, "object-failed", "deleted-outside") ? error.message : `${kept} ${messageOf(error)}`;
    const parts = { ...watched.parts, open: [...watched.parts.open, readyStep] };
    throw new Incomplete(
      id,
      stateOf(definition, parts, state),
      new UserError(codeOf(error) ?? "not-ready", `${what} (${id}): ${text}`),
    );
  }
}

/** One object that is waited for. */
class Settling {
  readonly #startRevision: Props;
  readonly #startedAt: number;
  /** When it was seen last. undefined: this process has made it, and not seen it yet. */
  #seenAt: number | undefined;
  #reads = 0;
  #incomplete = 0;
  /** The answer to the create is the first look, unless it did not show the object's state, or a failure of an earlier run. */
  #isUnread: boolean;
  #isListed = false;

  constructor(
    private readonly collection: Collection,
    private readonly id: string,
    public parts: StateParts,
    private readonly sent: readonly string[],
  ) {
    const { definition, session } = collection;
    const { state } = parts.shown;
    this.#startRevision = parts.shown;
    this.#startedAt = session.clock.now();
    this.#seenAt = session.run.createdAt.has(id) ? undefined : this.#startedAt;
    this.#isUnread = !("state" in definition.outputs.shape) || (!isUnset(state) && this.#condition !== "failed");
  }

  get #condition(): Condition {
    return conditionIn(this.collection.definition, this.parts.shown);
  }

  /** Whether it is still in progress, and there is time left to wait for it. Addresses show that it can be used, whatever its state. */
  get #isPending(): boolean {
    const { definition, session } = this.collection;
    const condition = this.#condition;
    if (condition === "empty") return session.clock.now() - this.#startedAt < times.emptyMs;
    const isUnusable =
      condition === "unknown" && definition.shownLater?.includes("urls") === true && isUnset(this.parts.shown.urls);
    return condition === "pending" || isUnusable;
  }

  async look(): Promise<Look<undefined>> {
    const { session, definition } = this.collection;
    if (!this.#isUnread) {
      const waiting = await this.#read();
      if (waiting !== undefined) return { waiting };
    }
    this.#isUnread = false;
    const { shown } = this.parts;
    const condition = this.#condition;
    const state = quoted(shown.state);
    if (condition === "failed") throw new UserError("object-failed", failed(state));
    if (condition === "gone") throw new UserError("deleted-outside", gone);
    if (condition === "going") throw new UserError("deleted-outside", going);
    if (this.#isPending) return { waiting: state };
    const isPartial = definition.shownLater?.some((key) => isUnset(shown[key])) === true;
    if (isPartial && this.#incomplete++ < looksForShownLater) return { waiting: "not fully shown yet" };
    const own = definition.steps?.details;
    if (!own) return { done: undefined };
    const reading = own.read(session.client, this.id, { ...this.parts.asked, ...shown });
    const details = await reading.catch((error: unknown) => {
      // Too early, as a 404 is.
      if (!isForbidden(error) || !session.run.isNew(session.clock, [this.id])) throw error;
    });
    if (!details) return { waiting: isUnset(shown.state) ? own.waiting : `${state}, ${own.waiting}` };
    this.parts = seen(this.parts, details, this.sent);
    return { done: undefined };
  }

  /** Reads the object in the list if no look has done that. The object is ready, so a list that lacks it is not a failure. */
  async confirm(): Promise<void> {
    const item = this.#isListed ? undefined : await this.collection.listed(this.id, 0).catch(() => undefined);
    if (item) this.#take(item);
  }

  /** Reads the object. @returns why it shows nothing new yet */
  async #read(): Promise<string | undefined> {
    const { collection, id } = this;
    const isAsked = ++this.#reads % looksBeforeAsking === 0;
    const listed = await collection.listed(id, times.waitingAgeMs);
    const item = listed ?? (isAsked ? await collection.get(id) : undefined);
    const now = collection.session.clock.now();
    const isLost = this.#seenAt !== undefined && now - this.#seenAt >= times.longestLagMs;
    if (item ? isGone(item) : isLost && (await collection.find(id, 0)) === "gone")
      throw new UserError("deleted-outside", gone);
    if (!item) return "not listed yet";
    this.#seenAt = now;
    return this.#take(item);
  }

  #take(item: Identified): string | undefined {
    const shown = this.collection.shown(item);
    const waited = this.collection.session.clock.now() - this.#startedAt;
    const isBehind = isOlder(shown, this.#startRevision) && waited < times.longestLagMs;
    if (isBehind) return "listed as it was before";
    this.#isListed = true;
    const lacked = lackedIn(this.collection.definition, item);
    const unlisted = [
      ...this.parts.unlisted.filter((key) => !(key in shown)),
      ...this.sent.filter((key) => lacked.includes(key) && !isUnset(this.parts.asked[key])),
    ];
    this.parts = { ...seen(this.parts, shown, this.sent), unlisted: [...new Set(unlisted)] };
    return undefined;
  }
}

/** Warns about a state that is not in the vocabulary. @param before the state that is known already */
export function nameUnknown(collection: Collection, shown: Props, before?: unknown): void {
  const { state } = shown;
  if (state === before || conditionIn(collection.definition, shown) !== "unknown") return;
  collection.warn(
    `is in the state ${quoted(state)}, which this version does not know. ` +
      `${isUnset(shown.urls) ? "It is" : "It has addresses, so it is"} taken for ready: look in the console whether it works.`,
  );
}

const quoted = (state: unknown): string => `"${printable(String(state))}"`;

const gone = "run `pulumi up --refresh`, which makes it again. Somebody else deleted it while this run waited for it.";
const going = "once it is gone, run `pulumi up --refresh`, which makes it again. Somebody else is deleting it.";

const failed = (state: string): string =>
  "look at it in the console; `pulumi destroy` removes it, and `pulumi up --replace` with its URN makes a new one. " +
  `It went to the state ${state}.`;
