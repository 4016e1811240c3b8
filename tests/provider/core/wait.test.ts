import { type Session } from "../../../provider/core/session";
import { type Look, waitFor } from "../../../provider/core/wait";
import { VirtualTime } from "../../support/virtual-time";
import { timeoutMs } from "../../../provider/core/definition";
import { definitions } from "../../../provider/resources";
import { type Kind } from "../../support/engine";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { times } from "../../../provider/core/times";

const session = (time: VirtualTime, ms = Infinity): { session: Session; said: [at: number, line: string][] } => {
  const said: [number, string][] = [];
  const say = (line: string): void => void said.push([time.now(), line]);
  return {
    session: {
      clock: time,
      say,
      deadline: { at: time.now() + ms, limit: `${ms / 1000} s` },
      tell: say,
    } as unknown as Session,
    said,
  };
};

/** Looks that find it done at a time, and when they were. */
function looks(time: VirtualTime, readyAt: number): { look: () => Promise<Look<string>>; at: number[] } {
  const at: number[] = [];
  const look = (): Promise<Look<string>> => {
    at.push(time.now());
    return Promise.resolve(time.now() >= readyAt ? { done: "ready" } : { waiting: '"initializing"' });
  };
  return { look, at };
}

/** When a wait from now on looks, until it finds it ready. */
async function looked(time: VirtualTime, readyAfter: number): Promise<number[]> {
  const { look, at } = looks(time, time.now() + readyAfter);
  expect(await waitFor(session(time, 100_000).session, "node", look)).toBe("ready");
  return at;
}

test.each([
  ["done at once is done without waiting", 0, [0]],
  ["looks soon at first, then on a beat of 4 s", 12_100, [0, 500, 1_500, 3_500, 4_000, 8_000, 12_000, 16_000]],
])("%s", async (_, readyAfter, at) => {
  expect(await looked(new VirtualTime(), readyAfter)).toEqual(at);
});

test("looks more often while a node is likely to become ready", async () => {
  const at = await looked(new VirtualTime(), 70_000);
  const beats = (from: number, to: number) => at.filter((one) => one > from && one <= to).length;
  expect([beats(6_000, 30_000), beats(30_000, 48_000), beats(51_000, 60_000)]).toEqual([6, 12, 3]);
});

test("those who began at different times look at the same beats", async () => {
  const time = new VirtualTime();
  const all = [0, 130, 777, 2_000].map(async (delay) => {
    await time.sleep(delay);
    return (await looked(time, 20_000 - delay)).slice(4);
  });
  for (const beats of await Promise.all(all)) expect(beats.every((at) => at % 4_000 === 0)).toBe(true);
});

test("looks more often from exactly 30 s on, and no longer than 50 s", async () => {
  const from = async (delay: number) => {
    const time = new VirtualTime();
    await time.sleep(delay);
    return looked(time, 60_000);
  };
  const [first, second] = [await from(2_000), await from(1_000)];
  expect(first.filter((at) => at > 28_000 && at < 34_000)).toEqual([32_000, 33_000]);
  expect(second.filter((at) => at > 49_000 && at < 53_000)).toEqual([49_500, 51_000, 52_000]);
});

describe("progress", () => {
  const nodes = ["n1", "n2", "n3", "n4"];
  /** Four nodes of an environment that become ready about then. */
  const wait = async (readyAt: number): Promise<[number, string][]> => {
    const time = new VirtualTime();
    const { session: one, said } = session(time);
    await Promise.all(
      nodes.map(async (name, index) => {
        await time.sleep(index * 300);
        const { look } = looks(time, readyAt + index * 700);
        await waitFor(one, `node "${name}"`, look, "/nodes");
      }),
    );
    return said;
  };

  test("one line for all, ever more rarely", async () => {
    const said = await wait(40_000);
    expect(said[0]![1]).toMatch(/^node "n1", node "n2", node "n3", node "n4": "initializing", 1[012] s so far$/);
    expect(said.length).toBe(2);
    const minutes = (await wait(20 * 60_000)).map(([at]) => Math.round(at / 6_000) / 10);
    expect(minutes).toEqual([0.2, 0.5, 1, 2, 5, 10, 15, 20]);
  });

  test("a new state is reported at once, and once for all; a known one is not reported again", async () => {
    const time = new VirtualTime();
    const { session: one, said } = session(time);
    const stateAt = (delay: number): string => (time.now() < 3_000 + delay ? '"initializing"' : '"starting"');
    const look = (delay: number) => (): Promise<Look<string>> =>
      Promise.resolve(time.now() < 8_000 ? { waiting: stateAt(delay) } : { done: "ready" });
    await Promise.all(nodes.map((name, index) => waitFor(one, name, look(index * 400), "/nodes")));
    expect(said.map(([, line]) => line)).toEqual(['n1: "starting"; n2, n3, n4: "initializing", 4 s so far']);
  });

  test("who joins after some have left shares the line of those who still wait", async () => {
    const time = new VirtualTime();
    const { session: one, said } = session(time);
    const waits = async (name: string, from: number, readyAt: number) => {
      await time.sleep(from);
      await waitFor(one, name, looks(time, readyAt).look, "/nodes");
    };
    await Promise.all([waits("n1", 0, 15_000), waits("n2", 0, 70_000), waits("n3", 17_000, 70_000)]);
    const lines = said.map(([, line]) => line.replace(/: .*/, ""));
    expect(lines).toEqual(["n1, n2", "n2, n3", "n2, n3"]);
  });
});

test.each([1, 4_000, 9_999, 60_000])("out of time after %i ms exactly, with a last look", async (ms) => {
  const time = new VirtualTime();
  const { look, at } = looks(time, Infinity);
  const wait = waitFor(session(time, ms).session, "node", look);
  await expect(wait).rejects.toThrow(`still "initializing" after ${ms / 1000} s, which is the limit (customTimeouts)`);
  expect(time.now()).toBe(ms);
  expect(at.at(-1)).toBe(ms);
});

test("a look that takes long counts", async () => {
  const time = new VirtualTime();
  const look = async (): Promise<Look<never>> => {
    await time.sleep(3_000);
    return { waiting: "x" };
  };
  await expect(waitFor(session(time, 5_000).session, "node", look)).rejects.toThrow("after 5 s");
  expect(time.now()).toBe(6_500);
});

/* How long each verb may take: half an hour for what starts slowly, five minutes for the rest, or what the user says. */

const slow: Kind[] = ["environment", "node", "service"];
const kinds = Object.keys(definitions) as Kind[];
const verbs = kinds.flatMap((kind) => (["create", "update", "delete"] as const).map((verb) => [kind, verb] as const));

test.each(verbs)("%s %s", (kind, verb) => {
  const usual = (slow.includes(kind) ? 30 : 5) * 60_000;
  expect(timeoutMs(definitions[kind], verb, {})).toBe(usual);
  expect(timeoutMs(definitions[kind], verb, { customTimeouts: { [verb]: 7.5 } })).toBe(7_500);
  const others = { create: 1, update: 1, delete: 1, [verb]: undefined };
  expect(timeoutMs(definitions[kind], verb, { customTimeouts: others })).toBe(usual);
});

/* The table of times says who uses each: no more, no fewer. Lint rejects a time of the core outside of it. */

const provider = join(__dirname, "../../../provider");
const sources = ["core", "pulumi", "resources"].flatMap((folder) =>
  readdirSync(join(provider, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && name !== "times.ts")
    .map((name) => [basename(name), readFileSync(join(provider, folder, name), "utf8")] as const),
);
const table = readFileSync(join(provider, "core/times.ts"), "utf8");
const rows = [...table.matchAll(/^ {2}\/\*\* (.*) \*\/\n {2}(\w+):/gm)];

test("each time has a reason and its users", () => {
  expect(rows.map(([, , name]) => name)).toEqual(expect.arrayContaining(Object.keys(times)));
});

test.each(rows.map(([, reason = "", name = ""]) => [name, reason] as const))("%s", (name, reason) => {
  const users = sources.filter(([, text]) => new RegExp(`\\btimes\\.${name}\\b`).test(text)).map(([file]) => file);
  expect(reason.match(/[\w-]+\.ts/g)?.sort()).toEqual(users.sort());
});
