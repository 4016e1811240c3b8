import { type ServiceOptions } from "../../service/index";
import { Engine, type Kind, type Outcome, type Props } from "./engine";
import { bases, type Collected, collectionOf } from "./bases";
import { network, type Network, send } from "./network";
import { hostedAnswers, newProcess, start, type Started } from "./service";

export interface World extends Started {
  net: Network;
  engine: Engine;
  /** The calls since the last look that change something. */
  writes: () => string[];
  /** The path of the object that the engine keeps. */
  at: () => string;
  /** The object as the service shows it, or undefined if it is not listed as existing. */
  shown: () => Promise<Props | undefined>;
  /** How many of this kind are listed under the fixture's parent, besides the fixture's own. */
  count: () => Promise<number>;
}

/** A tether always exists: a resource turns it into an active one. */
const activeTethers = ({ service }: Started): Props[] =>
  service.store.tethers
    .list()
    .filter(({ fields }) => fields.active)
    .map(({ id, fields }) => ({ id, ...fields }));

/** Services that tables run on: one like the specification, and one like the hosted one. */
const manners: [like: "specification" | "hosted", answers: ServiceOptions["answers"]][] = [
  ["specification", {}],
  ["hosted", hostedAnswers],
];
let manner: ServiceOptions["answers"] = {};

/** The tests, on services of both manners. */
export const inBothManners = (tests: (like: "specification" | "hosted") => void): void =>
  describe.each(manners)("like the %s", (like, answers) => {
    beforeAll(() => void (manner = answers));
    afterAll(() => void (manner = {}));
    tests(like);
  });

/** A service without a call to delete a zone keeps it until its environment or consortium goes. */
const staysIn = (like: "specification" | "hosted", kind: Kind): boolean =>
  like === "hosted" && kind.endsWith("Zone") && (hostedAnswers.deleteZones ?? hostedAnswers.like !== "hosted") !== true;

/** A service with a network of other people, and an empty stack. */
export async function world(kind: Kind, options: ServiceOptions = {}): Promise<World> {
  const started = await start({ ...options, answers: { ...manner, ...options.answers } });
  const net = await network(started.service, started.time);
  const members = started.service.store.memberships.list().map(({ id }) => id); // also the one that a founder has
  const fixture = new Set<unknown>([...Object.values(net), ...members]);
  const engine = new Engine(kind);
  const collection = (): string => {
    const { environmentId = net.environmentId } = engine.outputs as Partial<Network>;
    return collectionOf(kind as Collected, { ...net, environmentId });
  };
  const list = async (): Promise<Props[]> => {
    if (kind === "tetherService") return activeTethers(started);
    const items = await send(started.service, "GET", collection());
    return (items as unknown as Props[]).filter(({ state }) => state !== "deleted");
  };
  return {
    ...started,
    net,
    engine,
    writes: () => started.calls().filter((call) => !call.startsWith("GET ")),
    at: () => `${collection()}/${engine.kept!.id}`,
    shown: async () => (await list()).find(({ _id, id }) => (_id ?? id) === engine.kept?.id),
    count: async () => (await list()).filter(({ _id, id }) => !fixture.has(_id ?? id)).length,
  };
}

/** The same, where the stack has one of this kind, and its next run begins. */
export async function made(kind: Collected, options: ServiceOptions = {}): Promise<World> {
  const here = await world(kind, options);
  expect(await here.engine.up(bases[kind](here.net))).toEqual({ then: "created" });
  newProcess();
  here.calls();
  return here;
}

export interface Row {
  /** Properties laid over the base; undefined takes one away. */
  change: Props | ((net: Network) => Props);
  then: Outcome["then"];
  /** The property that replaces or refuses, and the text of the reason. */
  why?: { property: string; reason?: RegExp };
  /** Exactly these calls, in this order. */
  calls?: string[];
  /** The object in the service afterwards. */
  shows?: Props;
  /** Whether a replacement deletes the old one first. */
  deletedFirst?: boolean;
}

/** Names a row of a table by its contents. */
const title = ({ change, then, why }: Row): string =>
  `${typeof change === "function" ? "another " + (why?.property ?? "parent") : JSON.stringify(change, (_, value: unknown) => value ?? "(none)")} -> ${then}`;

/** Creates the base, makes each change to a fresh one, looks at calls and service, then deletes what is left. */
export function lifecycle(kind: Kind, base: (net: Network) => Props, rows: Row[], options: ServiceOptions = {}): void {
  inBothManners((like) => tableOf(kind, base, like === "hosted" ? rows.slice(0, 1) : rows, options, like));
}

function tableOf(
  kind: Kind,
  base: (net: Network) => Props,
  rows: Row[],
  options: ServiceOptions,
  like: "specification" | "hosted",
): void {
  test.each(rows.map((row) => [title(row), row] as const))(`${kind}: %s`, async (_title, row) => {
    // A replacement has both at once.
    const room = { consortia: 9, environments: 9 };
    const { engine, net, calls, shown, count } = await world(kind, { limits: room, ...options });
    expect(await engine.up(base(net))).toEqual({ then: "created" });
    const { id } = engine.kept!;
    const change = typeof row.change === "function" ? row.change(net) : row.change;
    const args = { ...base(net), ...change };
    expect((await engine.preview(args)).then).toBe(row.then);

    calls();
    const outcome = await engine.up(args);
    const made = calls();
    expect(outcome).toMatchObject({ then: row.then });
    if (row.calls && like === "specification") expect(made).toEqual(row.calls);

    if (outcome.then === "refused") {
      expect(outcome.failures.map(({ property }) => property)).toEqual([row.why!.property]);
      expect(outcome.failures[0]!.reason).toMatch(row.why!.reason!);
      expect(made).toEqual([]);
    }
    if (outcome.then === "replaced") {
      expect(outcome.replaces).toEqual([row.why!.property]);
      expect(outcome.deletedFirst).toBe(row.deletedFirst ?? false);
      expect(engine.kept!.id).not.toBe(id);
    } else expect(engine.kept!.id).toBe(id);
    if (row.shows) expect(await shown()).toMatchObject(row.shows);
    if (outcome.then !== "refused") expect(await engine.up(args)).toEqual({ then: "same" });

    await engine.destroy();
    expect(await shown()).toBeUndefined();
    expect((await count()) > 0).toBe(staysIn(like, kind));
  });
}
