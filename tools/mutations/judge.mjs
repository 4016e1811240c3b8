// @ts-check
/**
 * Which mutants a test notices. A test file runs once without a mutant, to note what it executes, and again for each mutant that it executes
 * and nothing has noticed yet. What is likely to fail, and quick, comes first.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { log } from "../lib/terminal.mjs";
import { isOpen, named } from "./figures.mjs";
import { reachOf } from "./near.mjs";

/** @typedef {import("./figures.mjs").Judged} Judged */
/** @typedef {import("./mutants.mjs").Drawable} Drawable */
/** @typedef {import("./records.mjs").Covered} Covered */
/** @typedef {ReturnType<typeof import("./workers.mjs").worker>} Worker */
/** @typedef {{ one: Judged, near: string[], left: string[], isBusy: boolean, isRun: boolean }} Open a mutant, and the tests it has yet to meet */

/** A file that takes longer runs only the tests that execute the mutant. */
const longMs = 1_000;
/** What loading a file takes. */
const loadMs = 400;
/** A guess at a file that never ran: what reaches much takes long. @param {string} test */
const guessed = (test) => loadMs + 40 * reachOf(test).length;

/**
 * @param {Drawable[]} drawn
 * @param {object} how
 * @param {(file: string) => string[]} how.nearest the tests that may notice a change of a source, nearest first
 * @param {Drawable[]} how.all every mutant that is in the copy
 * @param {Worker[]} how.workers
 * @param {ReturnType<typeof import("./records.mjs").recordsIn>} how.records
 * @param {number} how.until when the time is up
 * @param {boolean} how.force also what an earlier run has decided
 * @returns {Promise<Judged[]>}
 */
export async function judge(drawn, { nearest, all, workers, records, until, force }) {
  const keys = new Map(all.map(({ mutant, key }) => [mutant.id, key]));
  /** @type {Map<string, Covered | "running" | undefined>} */
  const known = new Map();
  /** @type {Map<string, Map<string, number>>} */
  const killers = new Map();
  /** @type {Open[]} */
  const mutants = drawn.map((one) => {
    const { file } = one.place;
    const near = nearest(file);
    if (!killers.has(file)) killers.set(file, records.kills(file));
    for (const test of near) if (!known.has(test)) known.set(test, records.covered(test));
    const result = force ? undefined : records.resultOf(one.key, file, near);
    const judged = { ...one, status: result?.status ?? /** @type {const} */ ("Pending"), by: result?.by };
    return { one: judged, near, left: near, isBusy: false, isRun: false };
  });
  let seen = mutants.filter(({ one }) => !isOpen(one)).length;
  if (seen > 0) log(`${seen} of ${drawn.length} are known from an earlier run`);

  /** @param {Open} open @param {import("./figures.mjs").Status} status @param {string} [by] */
  function decide({ one, near }, status, by) {
    Object.assign(one, { status, by });
    seen += 1;
    records.keepResult(one.key, one.place.file, near, { status, by });
    if (by === undefined) return log(`${seen} of ${drawn.length}: ${named(one)}`);
    const found = killers.get(one.place.file);
    found?.set(by, (found.get(by) ?? 0) + 1);
  }

  /** Drops tests that do not execute a mutant, and decides what is left with none. */
  const settle = () => {
    for (const open of mutants.filter(({ one, isBusy }) => isOpen(one) && !isBusy)) {
      open.left = open.left.filter((test) => {
        const run = known.get(test);
        return run === undefined || run === "running" || open.one.key in run.by;
      });
      if (open.left.length === 0) decide(open, open.isRun ? "Survived" : "NoCoverage");
    }
  };

  /** The tests of a file that are to run. @param {Covered} run @param {string} key @returns {string[] | undefined} undefined: all */
  const only = ({ by, tests, whole }, key) => {
    const own = by[key];
    const isLong = tests.reduce((sum, [, ms]) => sum + ms, 0) > longMs;
    return own && isLong && !whole ? own.map((at) => tests[at]?.[0] ?? "") : undefined;
  };

  /** @param {Covered} run @param {string[]} [names] */
  const msOf = ({ tests }, names) =>
    tests.reduce((sum, [name, ms]) => (names === undefined || names.includes(name) ? sum + ms : sum), loadMs);

  /** @type {Map<string, number>} */
  const guesses = new Map();
  const guess = (/** @type {string} */ test) => {
    const ms = guesses.get(test) ?? guessed(test);
    guesses.set(test, ms);
    return ms;
  };

  /** What to do next: a test file, with a mutant unless it is unknown yet. @returns {{ test: string, open?: Open } | undefined} */
  function next() {
    /** @type {Map<string, number>} */
    const unknown = new Map();
    /** @type {{ test: string, open?: Open, worth: number }} */
    let best = { test: "", worth: 0 };
    for (const open of mutants.filter(({ one, isBusy }) => isOpen(one) && !isBusy))
      for (const test of open.left) {
        const run = known.get(test);
        const odds = (1 + 5 * (killers.get(open.one.place.file)?.get(test) ?? 0)) / (1 + open.near.indexOf(test)) ** 2;
        if (run === undefined) unknown.set(test, (unknown.get(test) ?? 0) + odds / guess(test));
        else if (run !== "running") {
          const worth = odds / msOf(run, only(run, open.one.key));
          if (worth > best.worth) best = { test, open, worth };
        }
      }
    for (const [test, worth] of unknown) if (worth > best.worth) best = { test, worth };
    return best.worth > 0 ? best : undefined;
  }

  /** @param {Worker} worker @param {string} test */
  async function cover(worker, test) {
    known.set(test, "running");
    for (let attempt = 1; ; attempt += 1) {
      const said = await worker.ask({ test }, Math.min(600_000, until - Date.now()));
      if (typeof said === "object" && said.failed === undefined && said.coverage) {
        const tests = Object.entries(said.tests);
        /** @type {Covered["by"]} */
        const by = {};
        const keysIn = (/** @type {object | undefined} */ ids = {}) =>
          Object.keys(ids).flatMap((id) => keys.get(id) ?? []);
        tests.forEach(([name], at) => {
          for (const key of keysIn(said.coverage?.perTest[name])) /** @type {number[]} */ (by[key] ??= []).push(at);
        });
        for (const key of keysIn(said.coverage.static)) by[key] = 0;
        const run = { tests, by, alone: [], whole: false };
        known.set(test, run);
        return records.keepCovered(test, run);
      }
      if (attempt < 2 && Date.now() < until) continue;
      const why = typeof said === "object" ? `${said.failed}\n${said.message}` : said;
      if (Date.now() < until) log(`Left out, because it fails without a mutant: ${test}: ${why}`);
      return known.set(test, { tests: [], by: {}, alone: [], whole: true });
    }
  }

  /** @param {Worker} worker @param {string} test @param {Open} open @param {Covered} run */
  async function meet(worker, test, open, run) {
    const names = only(run, open.one.key);
    const slowest = Math.max(...run.tests.map(([, ms]) => ms));
    const job = { test, active: open.one.mutant.id, testTimeout: Math.max(60_000, 4 * slowest) };
    const limit = 60_000 + 4 * msOf(run, names);
    let said = await worker.ask({ ...job, only: names }, Math.min(limit, until - Date.now()));
    // What an earlier run has left behind can end a worker, too.
    if (said === "ended") said = await worker.ask({ ...job, only: names }, Math.min(limit, until - Date.now()));
    if (Date.now() >= until) return;
    if (said === "late") return decide(open, "Timeout", test);
    if (said === "ended") return decide(open, "Killed", test);
    if (said.failed === undefined) {
      open.isRun = true;
      open.left = open.left.filter((one) => one !== test);
      return;
    }
    if (names !== undefined && !run.alone.includes(said.failed)) {
      const plain = await worker.ask({ test, only: [said.failed] }, Math.min(600_000, until - Date.now()));
      if (typeof plain === "object" && plain.failed === undefined) run.alone.push(said.failed);
      else run.whole = true;
      records.keepCovered(test, run);
      if (run.whole) return;
    }
    decide(open, "Killed", test);
  }

  /** @param {Worker} worker */
  async function work(worker) {
    for (;;) {
      settle();
      if (Date.now() >= until || mutants.every(({ one }) => !isOpen(one))) return worker.stop();
      const found = next();
      if (found === undefined) await sleep(100);
      else if (found.open === undefined) await cover(worker, found.test);
      else {
        found.open.isBusy = true;
        await meet(worker, found.test, found.open, /** @type {Covered} */ (known.get(found.test)));
        found.open.isBusy = false;
      }
    }
  }
  await Promise.all(workers.map(work));
  return mutants.map(({ one }) => one);
}
