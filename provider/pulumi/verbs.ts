import { isDeepStrictEqual } from "node:util";
import { paths } from "../api/paths";
import { printable } from "../api/printable";
import {
  contentsKey,
  hiddenKey,
  logicalNameKey,
  lossWarning,
  ownKeys,
  previewKey,
  secretsKey,
  stackKey,
} from "../constants";
import { check } from "../core/check";
import { Collection } from "../core/collection";
import {
  type Definition,
  inputKeys,
  inputMeta,
  isOver,
  type Issue,
  type Made,
  nameKey,
  nameOf,
  pathOf,
  type Props,
  type Steps,
  secretKeys,
  timeoutMs,
} from "../core/definition";
import { diff, type DiffResult } from "../core/diff";
import { create } from "../core/lifecycle/create";
import { foreseen } from "../core/lifecycle/adopt";
import { deleting } from "../core/lifecycle/delete";
import { read } from "../core/lifecycle/read";
import { deleteInTurn } from "../core/lifecycle/replace";
import { update } from "../core/lifecycle/update";
import {
  isKnown,
  ownershipOfNew,
  proveBeforeCreate,
  proveOrganization,
  refuseUnlikeRequired,
  stateObjectOf,
} from "../core/organization";
import { type Ownership, type ProgramResource, type Session, type StateObject, within } from "../core/session";
import { isOffline, type Sessions } from "./sessions";
import { CreateLog } from "./stack-log";
import { inputsOf, isStored, storedIn, storedKey, partsOf } from "../core/state";
import { times } from "../core/times";
import { Incomplete, UserError } from "../errors";
import { isObject, withoutUndefined } from "../plain";
import { isUnknown, isUnset, secretPaths, unknown } from "../core/values";

/** Added inputs that the state keeps. */
const keptKeys: readonly string[] = [contentsKey, logicalNameKey, secretsKey];

/** The properties of the resource itself, without what programs and adapters add, but with the paths of its secrets. */
const resourceOnly = (props: Props): Props =>
  Object.fromEntries(Object.entries(props).filter(([key]) => key === secretsKey || !ownKeys.includes(key)));

/** Those of the keys that are set. */
const keptOf = (props: Props, keys: readonly string[]): Props =>
  Object.fromEntries(keys.filter((key) => props[key] !== undefined).map((key) => [key, props[key]]));

/**
 * Whether an unknown value may turn out to be a secret: Pulumi does not tell. Then the preview leaves the secrets unknown, too, because a
 * plan saved from it would not allow others.
 */
const mayBeSecret = (definition: Definition, inputs: Props): boolean =>
  Object.entries(inputs).some(([key, value]) => {
    if (!isUnknown(value)) return false;
    const { argument, parent } = inputMeta(definition, key) ?? {};
    return argument === undefined && parent === undefined; // ids are no secrets
  });

/** Lines of a preview about a new object. */
export const cautionsOf = (definition: Definition, inputs: Props, stopped: ReadonlySet<string>): string[] =>
  [...(definition.steps?.cautions?.(inputs, stopped) ?? []), ...(definition.steps?.costs?.(inputs) ?? [])].map(
    (line) => `${nameOf(definition, inputs)}: ${line}`,
  );

/** For a preview that cannot look: what it is in may not exist yet. */
function adoptionOf(definition: Definition, { adopt, name, orgName }: Props): string[] {
  const named = definition.naming?.includes(nameKey(definition)!)
    ? "with this name"
    : `of this ${definition.naming?.join(" and ")}`;
  const which = typeof adopt === "string" ? printable(adopt) : `the existing object ${named}, or creates a new one`;
  return [`${nameOf(definition, { name, orgName })}: adopts ${which}`];
}

/** Whether an update to these inputs leaves the object, and everything in it, idle. */
const isStopped = (definition: Definition, state: Props, inputs: Props): boolean =>
  inputKeys(definition).some((key) => {
    const { action } = inputMeta(definition, key)!;
    return action !== undefined && (isUnset(inputs[key]) ? action.shown(state) : inputs[key]) === true;
  });

const notFound = (definition: Definition, id: string, state: Props): string => {
  const where = definition.steps?.idKey === undefined ? ` in ${definition.place(state).collection}` : "";
  return `${definition.type} "${id}" was not found${where}: check the id, and that the API key belongs to the organization that has it.`;
};

/**
 * The verbs of one resource, for both adapters. Each verb has one deadline, and proves the organization of the key before
 * it changes or deletes anything, or takes it for gone.
 */
export class Verbs {
  /** @param resource the resource of the program, if the request names it; otherwise its inputs do @param own what its sessions have of their own */
  constructor(
    readonly definition: Definition,
    private readonly sessions: Sessions,
    private readonly resource?: ProgramResource,
    private readonly own: Partial<Session> = {},
  ) {}

  /**
   * Validates inputs without a call, and keeps what programs and adapters added for later verbs.
   * @returns `lines` for the preview, too, which may hold secrets: who shows them masks them
   */
  check(olds: Props, news: Props): { inputs: Props; failures: Issue[]; lines: string[] } {
    this.sessions.check();
    this.#nameStack(news);
    this.#hide(olds);
    this.#hide(news);
    const { inputs, issues } = check(this.definition, resourceOnly(news), resourceOnly(olds));
    const isNew = Object.keys(olds).length === 0;
    const lines = [
      ...(news[previewKey] && isNew && issues.length === 0
        ? cautionsOf(this.definition, inputs, this.sessions.run().stopped)
        : []),
      ...(this.definition.steps?.losses?.(olds, news) ?? []),
    ];
    const taken = issues.length > 0 ? [] : this.#declare(isNew, inputs, news);
    const { secrets } = this.sessions;
    const hidden = secretPaths(news).map(([key]) => key);
    // The engine prints the value of the property that a failure names.
    const failures = [...issues, ...taken].map(({ property, reason, code }) => ({
      property: hidden.includes(property.split(".")[0]) ? "" : property,
      reason: secrets.mask(reason),
      code,
    }));
    return {
      inputs: {
        ...inputs,
        ...keptOf(news, keptKeys),
        ...(mayBeSecret(this.definition, inputs) && { [secretsKey]: unknown }),
      },
      failures,
      lines,
    };
  }

  /**
   * What a preview says of the adoption of an existing object. It looks where the place is known already.
   * @returns also its id, if that is certain
   */
  async adoption(news: Props): Promise<{ lines: string[]; id?: string }> {
    const { definition, sessions } = this;
    const inputs = resourceOnly(news);
    const session = sessions.known() && !isOffline() ? sessions.current() : undefined;
    const isAsked = Boolean(inputs.adopt) || session?.adoptAll === true;
    const names = [inputs.adopt, ...(definition.naming ?? []).map((key) => inputs[key])];
    if (!definition.naming || !isAsked || isUnknown(names)) return { lines: [] };
    const places = inputKeys(definition).filter((key) => inputMeta(definition, key)!.parent === "path");
    const untold = { lines: adoptionOf(definition, inputs) };
    if (!session || isUnknown(places.map((key) => inputs[key]))) return untold;
    const caller = { verb: "check", resource: this.called(news) };
    const looking = { ...within(session, times.previewMs, caller), resource: this.#resource(news) };
    const look = (): ReturnType<typeof foreseen> => foreseen(Collection.of(looking, definition, inputs));
    const seen = await sessions.traced("check", definition.type, looking.resource?.name, look).catch(() => undefined);
    return seen ? { lines: [seen.line], id: seen.id } : untold;
  }

  #nameStack({ [stackKey]: given }: Props): void {
    const [organization, project, stack]: unknown[] = [given].flat();
    if (typeof organization !== "string" || typeof project !== "string" || typeof stack !== "string") return;
    this.sessions.log.nameStack({ organization, project, stack });
  }

  /**
   * The name that a killed run of this stack sent for a resource with generated names. The engine generates another one each time, so the
   * next run would not find the object of the killed one.
   */
  killedName(inputs: Props): string | undefined {
    const { definition, sessions } = this;
    const resource = this.#resource(inputs);
    const places = inputKeys(definition).filter((key) => inputMeta(definition, key)!.parent === "path");
    const isPlaced = places.every((key) => !isUnset(inputs[key]) && !isUnknown(inputs[key]));
    const settings = sessions.known();
    if (!resource || !isPlaced || (definition.naming?.length ?? 1) > 1 || !settings) return undefined;
    const { collection } = definition.place(inputs);
    const isInState = (id: string): boolean => sessions.run().shown.has(paths.item(collection, id));
    return new CreateLog(sessions.log, settings).nameFor(collection, resource.name, isInState);
  }

  /** Rejects an object that another resource of the program has. */
  #declare(isNew: boolean, inputs: Props, news: Props): Issue[] {
    const { definition } = this;
    const { leases, programmed } = this.sessions.run();
    const resource = this.#resource(news);
    if (resource) programmed.add(resource.key);
    if (!resource || isUnknown(inputs)) return [];
    const reason = leases.declare(resource, definition, isNew, inputs);
    if (reason === undefined) return [];
    const named = inputs.adopt === undefined ? nameKey(definition) : "adopt";
    return [{ property: definition.steps?.idKey ?? named ?? "", reason, code: "managed-twice" }];
  }

  /**
   * Compares a state with new inputs. Makes a call only for a key that the state does not know: `diff` alone cannot tell its organization.
   */
  async diff(id: string, olds: Props, news: Props): Promise<Omit<DiffResult, "plans">> {
    const { sessions } = this;
    const object = this.#saw(id, olds);
    this.#hide(news);
    const { warnings, plans, ...difference } = this.#difference(object, olds, news);
    const settings = sessions.known();
    const isKnownKey = settings !== undefined && isKnown(object.ownership, settings);
    if (isKnownKey) refuseUnlikeRequired(sessions.current(), object);
    const unproved = isKnownKey ? [] : await this.#proveNewKey(object, this.#resource(news));
    return {
      ...difference,
      changes:
        difference.changes ||
        (doesTakeItsOwn(news) ?? storedIn(olds).takesItsOwn ?? false) !== (storedIn(olds).takesItsOwn ?? false),
      warnings: [...this.#planned(news, plans), ...warnings, ...unproved],
    };
  }

  /**
   * Asks which organization the key belongs to, unless no key was ever proved for the object.
   * @returns warnings if the service cannot tell @throws if there is no key
   */
  async #proveNewKey(object: StateObject, resource?: ProgramResource): Promise<string[]> {
    const { sessions } = this;
    if (object.ownership.keys.length === 0) return [];
    const warning = await sessions.proveKey();
    if (!sessions.isAccepted) return warning === undefined ? [] : [warning];
    const caller = { verb: "diff", resource: object.what };
    const session = within(sessions.current(), times.previewMs, caller);
    const prove = (): Promise<unknown> => proveOrganization(session, object);
    await sessions.traced("diff", this.definition.type, resource?.name, prove).catch((error: unknown) => {
      // Any other failure may pass: an update, which has more time, asks again.
      if (error instanceof UserError && error.brief !== undefined) throw error;
    });
    return [];
  }

  /** Lines about an update, if one may follow: a refresh asks for a difference, too. */
  #planned(news: Props, plans: string[]): string[] {
    const resource = this.#resource(news);
    return !resource || this.sessions.run().programmed.has(resource.key) ? plans : [];
  }

  #difference({ id, path }: StateObject, olds: Props, news: Props): DiffResult {
    const inputs = resourceOnly(news);
    const { definition } = this;
    const difference = diff(definition, id, olds, inputs);
    const { leases, stopped, programmed } = this.sessions.run();
    if (isStopped(definition, olds, inputs)) stopped.add(id);
    const isReplaced = difference.replaces.length > 0;
    if (isReplaced) {
      leases.giveUp(path, this.#resource(news));
      // A destroy of targets asks what depends on them, as if that were replaced, and checks nothing.
      const isOfDestroy = isUnknown(inputs) && programmed.size === 0;
      const loss = isOfDestroy ? lossWarning("delete", definition.type) : undefined;
      if (loss !== undefined) difference.warnings = [`${nameOf(definition, olds)} (${id}): ${loss}`];
      else difference.warnings.push(...cautionsOf(definition, inputs, stopped));
    } else if (difference.changes)
      for (const cost of definition.steps?.costs?.(inputs, olds) ?? [])
        difference.plans.push(`${nameOf(definition, inputs)}: ${cost}`);
    const resource = this.#resource(news);
    // A resource that only a refresh has shown may be removed from the program, or renamed in it. During an update, the engine asks with
    // unknown values only to find what a replacement affects.
    if (resource && programmed.has(resource.key) && !isUnknown(inputs) && !isReplaced)
      leases.hold(resource, definition, { path, id, isOver: isOver(definition, olds) }, inputs);
    return difference;
  }

  /** Creates or adopts the object and waits until it is ready. */
  create(inputs: Props): Promise<Made> {
    return this.#traced("create", inputs, () => this.#create(inputs));
  }

  async #create(inputs: Props): Promise<Made> {
    const { definition } = this;
    const timed = this.#begin("create", inputs, timeoutMs(definition, "create", inputs));
    this.#hide(inputs);
    await proveBeforeCreate(timed, definition);
    const known = resourceOnly(inputs);
    const idKey = definition.steps?.idKey;
    const { leases } = timed.run;
    const run = async (): Promise<Made> => {
      try {
        if (idKey !== undefined)
          leases.take(timed.resource, definition, known, pathOf(definition, known, String(known[idKey])));
        return await stepsOf(definition).create(timed, known);
      } catch (error) {
        leases.failed(timed.resource, error instanceof Incomplete ? "unready" : "made nothing");
        throw error;
      }
    };
    return this.#keeping(timed, inputs, (made) => ownershipOfNew(timed, definition, made), run);
  }

  /**
   * undefined: the object is confirmed to be gone. `inputs` is set only after drift. Otherwise inputs stay as the program
   * gave them, together with what only an adapter knows.
   * @throws for an object that this stack never had: a wrong id is a mistake, not a deletion
   */
  read(id: string, state: Props): Promise<{ props: Props; inputs?: Props } | undefined> {
    return this.#traced("read", state, () => this.#read(id, state));
  }

  async #read(id: string, state: Props): Promise<{ props: Props; inputs?: Props } | undefined> {
    const { definition } = this;
    const known = resourceOnly(state);
    const timed = this.#begin("read", state, times.refreshMs);
    const object = isStored(state) ? this.#saw(id, state) : undefined;
    const now = await stepsOf(definition).read(timed, id, known);
    if (!now) {
      if (!object) throw new UserError("not-found", notFound(definition, id, state));
      await proveOrganization(timed, object);
      return (await definition.steps?.isServed?.(timed, known)) ? { props: state } : undefined;
    }
    const ownership = await proveOrganization(timed, stateObjectOf(definition, id, { ...known, ...now }), true);
    const props = { ...now, [storedKey]: { ...storedIn(now), ...ownership } };
    this.#hide(props);
    const [inputs, before] = [props, known].map((state) => inputsOf(definition, partsOf(definition, state)));
    const kept = keptOf(state, [secretsKey]);
    const found = { ...props, ...kept };
    return isDeepStrictEqual(inputs, before) ? { props: found } : { props: found, inputs: { ...inputs, ...kept } };
  }

  /** Updates what differs, or completes what an earlier run left incomplete. */
  update(id: string, olds: Props, news: Props): Promise<Props> {
    return this.#traced("update", news, () => this.#update(id, olds, news));
  }

  async #update(id: string, olds: Props, news: Props): Promise<Props> {
    const { definition } = this;
    const timed = this.#begin("update", news, timeoutMs(definition, "update", news));
    const object = this.#saw(id, olds);
    this.#hide(news);
    const [before, inputs] = [resourceOnly(olds), resourceOnly(news)];
    const ownership = await proveOrganization(timed, object);
    const { state } = await this.#keeping(
      timed,
      news,
      () => Promise.resolve(ownership),
      async () => ({ id, state: await stepsOf(definition).update(timed, id, before, inputs) }),
    );
    return state;
  }

  /** Deletes the object and waits until it is gone, unless another resource of the program takes it over. */
  delete(id: string, given: Props): Promise<void> {
    return this.#traced("delete", given, () => this.#delete(id, given));
  }

  async #delete(id: string, given: Props): Promise<void> {
    const { definition } = this;
    const state = resourceOnly(given);
    const timed = this.#begin("delete", given, timeoutMs(definition, "delete", given));
    const object = this.#saw(id, given);
    await proveOrganization(timed, object);
    const elsewhere = this.sessions.log.isMadeElsewhere(object.path) && "another provider of this program has it now";
    // This may be the same resource: after an import or an adoption of its own object, an old state with that object is deleted.
    const holder = timed.run.leases.holder(object.path);
    const why = elsewhere || (holder && `it is "${holder.resource.name}" of the program now`);
    if (why) return timed.say(`${nameOf(definition, state)} (${id}): not deleted, because ${why}`);
    const remove = (session: Session): Promise<unknown> => stepsOf(definition).delete(session, id, state);
    if (!(await deleteInTurn(timed, definition, id, state, remove))) return;
    timed.run.leases.deleted(object.path);
    timed.run.deleted.add(object.path);
  }

  #traced<T>(verb: string, props: Props, work: () => Promise<T>): Promise<T> {
    return this.sessions.traced(verb, this.definition.type, this.#resource(props)?.name, work);
  }

  /** The session of one verb, which must end within this time. */
  #begin(verb: string, props: Props, ms: number): Session {
    const owner = this.#resource(props);
    const { type: title } = this.definition;
    const caller = { verb, resource: owner ? `${title} "${owner.name}"` : nameOf({ title }, props) };
    return { ...within(this.sessions.current(), ms, caller), ...this.own, resource: owner };
  }

  /** How messages about other resources name the one with these properties. */
  called(props: Props): string {
    const resource = this.#resource(props);
    return resource ? `${this.definition.type} "${resource.name}"` : nameOf(this.definition, props);
  }

  #resource({ [logicalNameKey]: given }: Props): ProgramResource | undefined {
    if (this.resource) return this.resource;
    const [name, parents = ""]: unknown[] = [given].flat();
    if (typeof name !== "string") return undefined;
    return { key: JSON.stringify([this.definition.type, name, parents]), name };
  }

  /** Masks the secrets among these properties from now on. */
  #hide(props: Props): void {
    this.sessions.hide(props, [
      ...secretPaths(props),
      ...[...secretKeys(this.definition), hiddenKey].map((key) => [key]),
    ]);
  }

  /** Every state records the organization and the secrets, even after a failure. */
  async #keeping(
    session: Session,
    inputs: Props,
    ownershipOf: (made: Made) => Promise<Ownership>,
    run: () => Promise<Made>,
  ): Promise<Made> {
    const kept = keptOf(inputs, [secretsKey]);
    const takesItsOwn = doesTakeItsOwn(inputs);
    const keep = async ({ id, state }: Made): Promise<Props> => {
      const known = takesItsOwn === undefined ? state : withKept(state, { takesItsOwn: takesItsOwn || undefined });
      const ownership = await ownershipOf({ id, state });
      return { ...known, [storedKey]: { ...storedIn(known), ...ownership }, ...kept };
    };
    try {
      const made = await run();
      return { id: made.id, state: await keep(made) };
    } catch (error) {
      if (!(error instanceof Incomplete)) throw error;
      this.#hide(error.state);
      throw new Incomplete(error.id, await keep(error), error.cause);
    }
  }

  /** Remembers a state that the engine shows. */
  #saw(id: string, state: Props): StateObject {
    this.#hide(state);
    const run = this.sessions.run();
    const object = stateObjectOf(this.definition, id, state);
    run.remember(object);
    return object;
  }
}

/** The resource's own steps; otherwise, those of objects in a collection. */
export const stepsOf = (definition: Definition): Pick<Steps, "create" | "read" | "update" | "delete"> => ({
  create: (session, inputs) => create(Collection.of(session, definition, inputs)),
  read: (session, id, state) => read(Collection.of(session, definition, state, id), id, state),
  update: (session, id, olds, news) => update(Collection.of(session, definition, news, id), id, olds, news),
  delete: (session, id, state) => deleting(() => definition, {})(session, id, state),
  ...definition.steps,
});

/** Whether the program has something in it with `deletedWith`. undefined: it does not tell. */
const doesTakeItsOwn = ({ [contentsKey]: contents }: Props): boolean | undefined =>
  isObject(contents) ? contents.deletedWith === true : undefined;

const withKept = (state: Props, more: Props): Props => ({
  ...state,
  [storedKey]: withoutUndefined({ ...storedIn(state), ...more }),
});
