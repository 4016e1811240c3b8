import { type Identified } from "../../api";
import { type Condition, isGone } from "../../api/states";
import { type Collection } from "../collection";
import { conditionIn, type Definition, inputKeys, inputMeta, nameKey, nameOf, type Props } from "../definition";
import { isReadable, lackedIn, readyStep, type StateParts, stateOf, withoutReady } from "../state";
import { messageOf } from "../../plain";
import { printable } from "../../api/printable";
import { isForbidden } from "../listed";
import { times } from "../times";
import { codeOf, hasCode, Incomplete, UserError } from "../../errors";
import { isUnset } from "../values";
import { type Look, waitFor } from "../wait";

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

/** Whether the service may later show the input in another form than in its answer. A refresh tells for names. */
function hasForms(definition: Definition, asked: Props, key: string): boolean {
  const meta = inputMeta(definition, key)!;
  return isReadable(meta) && !meta.parent && key !== nameKey(definition) && !isUnset(asked[key]);
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
  const begun = { ...known, open: withoutReady(known.open) };
  const watched = new Settling(collection, id, seen(begun, known.shown, sent), sent);
  try {
    await session.run.settling(collection.parentPath, () =>
      waitFor(session, what, () => watched.look(), collection.path),
    );
    const isOpen = isRemoval === true || sent.some((key) => hasForms(definition, known.asked, key));
    if (!isListed && isOpen) await watched.confirm();
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
    this.#seenAt = collection.isMade(id) ? undefined : this.#startedAt;
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
    const item = await collection.sought(id, times.waitingAgeMs, ++this.#reads);
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
