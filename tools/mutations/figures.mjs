// @ts-check
/** The results of a run: the survivors, and figures by folder. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { format, resolveConfig } from "prettier";
import { root } from "../lib/prepare.mjs";
import { roomOf, rooms } from "./mutants.mjs";
import { notDrawn, placeOfResult } from "./plugin.mjs";

/** @typedef {import("./mutants.mjs").Drawable} Drawable */
/** @typedef {Drawable & { status: import("@stryker-mutator/api/core").MutantStatus, by: string | undefined }} Judged by: the test that failed */

/** @param {Drawable[]} drawn @param {import("@stryker-mutator/api/core").MutantResult[]} results @returns {Judged[]} */
export const judged = (drawn, results) =>
  drawn.map((one) => {
    const result = results.find(
      (result) => result.statusReason !== notDrawn && isDeepStrictEqual(placeOfResult(result), one.place),
    );
    return { ...one, status: result?.status ?? "Pending", by: result?.killedBy?.[0] };
  });

/** A mutant that hangs is noticed, too. @param {Judged} one */
export const isKilled = ({ status }) => status === "Killed" || status === "Timeout";

/** For lack of time. @param {Judged} one */
export const isOpen = ({ status }) => status === "RuntimeError" || status === "Pending";

/** @param {Judged[]} all @returns {{ killed: number, of: number, percent: number }} */
export function score(all) {
  const killed = all.filter(isKilled).length;
  return { killed, of: all.length, percent: all.length === 0 ? 100 : (100 * killed) / all.length };
}

/** @param {Judged[]} all @returns {[room: string, killed: string, of: string, percent: string][]} and one for all */
function rowsOf(all) {
  /** @param {string} name @param {Judged[]} some @returns {[string, string, string, string]} */
  const row = (name, some) => {
    const { killed, of, percent } = score(some);
    return [name, String(killed), String(of), `${Math.floor(percent)} %`];
  };
  const named = rooms.map((room) => ({ room, some: all.filter(({ place }) => roomOf(place.file) === room) }));
  return [...named.filter(({ some }) => some.length > 0).map(({ room, some }) => row(room, some)), row("all", all)];
}

/** @param {Judged} one */
export const named = ({ place: { file, mutatorName, replacement, start }, text, status }) =>
  `${file}:${start[0] + 1}:${start[1] + 1} ${mutatorName}${status === "NoCoverage" ? " (no test runs it)" : ""}: ${short(text)} → ${short(replacement)}`;

/** @param {string} text */
const short = (text) => (text.length < 90 ? text : `${text.slice(0, 60)} … ${text.slice(-25)}`).replace(/\s+/g, " ");

/** @param {Judged[]} all */
export function table(all) {
  return rowsOf(all)
    .map(
      ([room, killed, of, percent]) => `${room.padEnd(20)} ${`${killed} of ${of}`.padStart(12)} ${percent.padStart(6)}`,
    )
    .join("\n");
}

const [begin, end] = ["<!-- mutations: begin -->", "<!-- mutations: end -->"];

/** Writes the figures into CONTRIBUTING.md. @param {Judged[]} all @param {string[]} seeds */
export async function write(all, seeds) {
  const file = join(root, "CONTRIBUTING.md");
  const text = readFileSync(file, "utf8");
  const rows = [["room", "noticed", "of", "score"], ["---", "--:", "--:", "--:"], ...rowsOf(all)];
  const lines = rows.map((cells) => `| ${cells.join(" | ")} |`);
  const note = `Seeds ${seeds.join(", ")}:`;
  const from = text.indexOf(begin) + begin.length;
  const whole = [text.slice(0, from), "", note, "", ...lines, "", text.slice(text.indexOf(end))].join("\n");
  writeFileSync(file, await format(whole, { ...(await resolveConfig(file)), filepath: file }));
}

/** Removes mutants that did not run from the incremental report: the next run may draw them. @param {string} file */
export function forget(file) {
  if (!existsSync(file)) return;
  const report = JSON.parse(readFileSync(file, "utf8"));
  for (const source of Object.values(report.files))
    source.mutants = source.mutants.filter(
      (/** @type {import("@stryker-mutator/api/core").MutantResult} */ { status }) =>
        status !== "CompileError" && status !== "RuntimeError",
    );
  writeFileSync(file, JSON.stringify(report));
}
