// @ts-check
/** The results of a run: the survivors, and figures by folder. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/prepare.mjs";
import { roomOf, rooms } from "./mutants.mjs";

/** @typedef {import("./mutants.mjs").Drawable} Drawable */
/** @typedef {"Killed" | "Timeout" | "Survived" | "NoCoverage" | "Pending"} Status */
/** @typedef {Drawable & { status: Status, by?: string | undefined }} Judged by: the test file that failed */

/** A mutant that hangs is noticed, too. @param {Judged} one */
export const isKilled = ({ status }) => status === "Killed" || status === "Timeout";

/** For lack of time. @param {Judged} one */
export const isOpen = ({ status }) => status === "Pending";

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
  const { format, resolveConfig } = await import("prettier"); // Jest cannot load it
  const file = join(root, "CONTRIBUTING.md");
  const text = readFileSync(file, "utf8");
  const figures = rowsOf(all).map(
    ([room, killed, of, percent]) => `${room} ${killed}/${of}${room === "all" ? ` (${percent})` : ""}`,
  );
  const open = all.filter(isOpen).length;
  const rest = open > 0 ? ` ${open} of the others have yet to meet all their tests.` : "";
  const note = `Noticed, of those drawn by seed ${seeds.join(", ")}: ${figures.join(", ")}.${rest}`;
  const from = text.indexOf(begin) + begin.length;
  const whole = [text.slice(0, from), "", note, "", text.slice(text.indexOf(end))].join("\n");
  writeFileSync(file, await format(whole, { ...(await resolveConfig(file)), filepath: file }));
}
