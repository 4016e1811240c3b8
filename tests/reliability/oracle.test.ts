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

/** The sample: three lives of each kind. */
const sample = kinds.flatMap((kind, number) =>
  manners.map((manner, turn) => ({ kind, number, manner, turn, adapter: adapters[(turn + number) % 2]! })),
);

/** The calls of each verb in a life without faults. */
async function callsOf(setting: Setting): Promise<Map<Verb, Outcome["calls"]>> {
  return new Map((await live(setting)).map(({ verb, calls }) => [verb, calls]));
}

if (!chosen) {
  const pairs = new Set<string>();
  const stopped: string[] = [];
  const changing = (calls: Outcome["calls"]): number =>
    calls.filter(({ method }) => !/^(GET|DELETE)$/.test(method)).length;

  /** The faults of one life of the sample: first at any call, then, twice in a row, at those that change something. */
  const casesOf = (calls: Map<Verb, Outcome["calls"]>, number: number, turn: number, second: boolean): Cases => {
    const cases: Cases = {};
    for (const [at, verb] of verbs.entries()) {
      const all = (calls.get(verb) ?? []).filter(({ method }) => !second || verb === "read" || method !== "GET");
      if (all.length === 0) continue;
      const fault = (4 * turn + at + 13 * number + Number(second)) % faults.length;
      const call = all[(turn * 7 + number * 5 + at * 3) % all.length]!;
      const twice = turn === 1 ? "another" : "again";
      const sequel = second ? twice : sequels[(turn + 3 * at + Math.floor(fault / 4)) % sequels.length]!;
      cases[verb] = { call, fault, sequel };
    }
    return cases;
  };

  test.each(sample.map((one) => [one.kind, one.manner, one.adapter, one] as const))(
    "%s, %s, %s: a fault in each verb, twice",
    async (kind, manner, adapter, { number, turn }) => {
      const calls = await callsOf({ kind, manner, adapter });
      for (const second of [false, true]) {
        const cases = casesOf(calls, number, turn, second);
        for (const [verb, { fault, sequel }] of Object.entries(cases)) {
          const parts = [kind, verb, `fault ${fault}`, manner, adapter, sequel];
          for (const one of parts) for (const other of parts) pairs.add(`${one} ${other}`);
        }
        for (const { verb, at, calls: made, stopped: whys } of await live({ kind, manner, adapter }, cases)) {
          stopped.push(...whys);
          // A contract that may have been paid for is looked for as long as the limit allows.
          if (at === undefined || at.sequel === "stays" || whys.includes("deployed?")) continue;
          // Changes are sent again after each fault; looks, and a DELETE of what is listed still, as long as a slow service may take.
          const base = calls.get(verb)!;
          const isBound = changing(made) <= changing(base) + 4 && made.length <= base.length + 100;
          expect([textOf(at), isBound]).toEqual([textOf(at), true]);
        }
      }
    },
  );

  test("each pair occurs, and no more runs stop than must", () => {
    const lists = [kinds, verbs, faults.map((_, at) => `fault ${at}`), manners, adapters, sequels];
    const wanted = lists.flatMap((list, at) =>
      lists.slice(at + 1).flatMap((other) => list.flatMap((one) => other.map((another) => `${one} ${another}`))),
    );
    expect(wanted.filter((pair) => !pairs.has(pair))).toEqual([]);
    expect(
      Object.fromEntries([...new Set(stopped)].sort().map((why) => [why, stopped.filter((one) => one === why).length])),
    ).toEqual({ "deployed?": 2, "no API": 6, "no time": 1, trouble: 35 });
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
