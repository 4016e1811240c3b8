import { times } from "../../provider/core/times";
import {
  type Case,
  type Cases,
  faults,
  live,
  manners,
  type Outcome,
  sequels,
  type Setting,
  textOf,
  type Verb,
  verbs,
} from "./life";
import { kinds } from "./kinds";

/*
 * Every fault, in every verb of every kind. `npm test` runs a sample, in which each pair of kind, verb, fault, manner of the service, adapter
 * and sequel occurs; `npm run reliability` all.
 */

const adapters = ["dynamic", "plugin"] as const;
const chosen = JSON.parse(process.env.RELIABILITY ?? "null") as Chosen | null;

interface Chosen {
  /** Only these. */
  only: Partial<Record<"kind" | "verb" | "manner" | "adapter", string>>;
  /** How many processes share the work, and which one this is. */
  of: number;
  part: number;
  /** Of four: how many sequels of each fault. */
  rounds: number;
}

/** The calls of each verb in a life without faults. */
async function callsOf(setting: Setting): Promise<Map<Verb, Outcome["calls"]>> {
  return new Map((await live(setting)).map(({ verb, calls }) => [verb, calls]));
}

const changing = (calls: Outcome["calls"]): Outcome["calls"] => calls.filter(({ method }) => method !== "GET");

/** How often a run looks within its time, at what it waits for. */
function looksIn(ms: number): number {
  const { steady, likely, likelyFrom, likelyTo } = times.waitEveryMs;
  return times.firstWaitsMs.length + ms / steady + (likelyTo - likelyFrom) / likely;
}

/** How often each call is sent at most: six times, or as long as there is time where the service asks to wait two seconds. */
const sendings = (fault: number): number => ("retryAfter" in faults[fault]! ? times.verbSeconds.update / 2 : 6);

/**
 * The most calls of a run with a fault. Changes are sent again after each fault; looks, and a DELETE of what is listed still, as long as a
 * slow service may take. After each sending without an answer, the object is looked for: a ledger for a minute. A run that stops has looked
 * for all of its time, at a tether with three calls.
 */
function bound(
  base: Outcome["calls"],
  { call, fault, sequel }: Case,
  hasStopped: boolean,
): { changes: number; all: number } {
  const most = changing(base).length;
  if (sequel !== "stays") return { changes: most + 6, all: base.length + 100 + (hasStopped ? 3 * looksIn(1000 * times.verbSeconds.create) : 0) }; // prettier-ignore
  // Two objects, of which one may need a second change. What is put under its name is sent again by the client, and by the create.
  const layers = call.route.endsWith("/:name") ? 6 : 1;
  // A tether is activated at each look: its contract may be mined only then.
  const again = call.route.endsWith("/activate")
    ? 2 * looksIn(1000 * times.verbSeconds.create)
    : 3 * sendings(fault) * layers;
  return {
    changes: most + again,
    all: base.length + again + 2 * 6 * (6 + times.longestLagMs / times.lostEveryMs.then),
  };
}

if (!chosen) {
  const pairs = new Set<string>();

  /** The faults of one life: most at calls that change something. */
  const casesOf = (calls: Map<Verb, Outcome["calls"]>, number: number, turn: number): Cases => {
    const cases: Cases = {};
    for (const [at, verb] of [...calls.keys()].entries()) {
      const all = calls.get(verb)!;
      const some = changing(all).length > 0 && (turn + at) % 4 !== 3 ? changing(all) : all;
      if (some.length === 0) continue;
      const fault = (5 * turn + at + 3 * number) % faults.length;
      const sequel = sequels[(turn + at + number + Number(turn === 1)) % sequels.length]!; // each with each fault
      // What stays hits all that follows, so it begins with the first call of its kind.
      const from = sequel === "stays" ? some.filter(({ nth }) => nth === 1) : some;
      cases[verb] = { call: from[(turn * 7 + number * 5 + at) % from.length]!, fault, sequel };
    }
    return cases;
  };

  const sample = kinds.flatMap((kind, number) =>
    manners.map((manner, turn) => [kind, manner, adapters[(turn + number) % 2]!, number, turn] as const),
  );

  test.each(sample)("%s, %s, %s: a fault in each verb, twice", async (kind, manner, adapter, number, turn) => {
    const calls = await callsOf({ kind, manner, adapter });
    const cases = casesOf(calls, number, turn);
    for (const [verb, { fault, sequel }] of Object.entries(cases)) {
      const parts = [kind, verb, `fault ${fault}`, manner, adapter, sequel];
      for (const one of parts) for (const other of parts) pairs.add(`${one} ${other}`);
    }
    for (const { verb, at, calls: made, stopped } of await live({ kind, manner, adapter }, cases)) {
      if (!at) continue;
      const most = bound(calls.get(verb)!, at, stopped.length > 0);
      const [changes, all] = [changing(made).length, made.length];
      expect([textOf(at), changes <= most.changes || changes, all <= most.all || all]).toEqual([
        textOf(at),
        true,
        true,
      ]);
    }
  });

  const unanswered = faults.findIndex((one) => "acted" in one && "status" in one && one.status === 500);

  test.each(["appCred", "node", "tetherService"] as const)(
    "%s: each change of an update, without an answer as long as the run lasts, and then taken back",
    async (kind) => {
      const setting: Setting = { kind, manner: "specification", adapter: "plugin" };
      const calls = changing((await callsOf(setting)).get("update")!).filter(({ nth }) => nth === 1);
      expect(calls.length).toBeGreaterThan(1);
      for (const call of calls) await live(setting, { update: { call, fault: unanswered, sequel: "stays" } });
    },
  );

  test("each pair occurs", () => {
    const lists = [kinds, verbs, faults.map((_, at) => `fault ${at}`), manners, adapters, sequels];
    const wanted = lists.flatMap((list, at) =>
      lists.slice(at + 1).flatMap((other) => list.flatMap((one) => other.map((another) => `${one} ${another}`))),
    );
    const none = ["consortiumZone adopt", "environmentZone adopt"]; // nothing of these belongs to a stack
    expect(wanted.filter((pair) => !pairs.has(pair))).toEqual(none);
  });
} else {
  const { only, of, part, rounds } = chosen;
  const isChosen = (name: keyof Chosen["only"], value: string): boolean =>
    only[name] === undefined || only[name].split(",").includes(value);
  const settings = kinds
    .flatMap((kind) => manners.flatMap((manner) => adapters.map((adapter): Setting => ({ kind, manner, adapter }))))
    .filter((one) => (["kind", "manner", "adapter"] as const).every((name) => isChosen(name, one[name])));

  test.each(
    settings.filter((_, at) => at % of === part).map((one) => [one.kind, one.manner, one.adapter, one] as const),
  )(
    "%s, %s, %s: every fault at every call of each verb",
    async (_kind, _manner, _adapter, setting) => {
      const calls = await callsOf(setting);
      const rows = new Map<Verb, Case[]>();
      for (const [verb, all] of calls)
        if (isChosen("verb", verb))
          rows.set(
            verb,
            all.flatMap((call, at) =>
              faults.flatMap((_, fault) =>
                sequels
                  .slice(0, rounds)
                  .map((_, round): Case => ({ call, fault, sequel: sequels[(at + fault + round) % sequels.length]! })),
              ),
            ),
          );
      const wrong: string[] = [];
      const lives = Math.max(...[...rows.values()].map((row) => row.length));
      for (let at = 0; at < lives; at++) {
        const cases = [...rows].flatMap(([verb, row]) => (at < row.length ? [[verb, row[at]!] as const] : []));
        await live(setting, Object.fromEntries(cases)).catch(({ message }: Error) => {
          wrong.push(message);
          process.stderr.write(`${message.split("\n").slice(0, 3).join("\n")}\n`);
        });
      }
      process.stderr.write(`${Object.values(setting).join(", ")}: ${lives} lives, ${wrong.length} wrong\n`);
      expect(wrong).toEqual([]);
    },
    24 * 3_600_000,
  );
}
