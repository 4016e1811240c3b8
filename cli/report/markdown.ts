import { printable, printableLines } from "../../provider/api/printable";

/** Text that came from elsewhere, as code: nothing in it is a mention, a link or a column. */
export function code(text: string): string {
  const line = printable(text.replaceAll(/\s*\n\s*/g, " ")).replaceAll("|", "\\|");
  const ticks = fence(line, "`");
  const pad = /^`|`$|^\s|\s$/.test(line) ? " " : "";
  return line === "" ? "" : ticks + pad + line + pad + ticks;
}

export function block(text: string): string {
  const ticks = fence(text, "```");
  return `${ticks}text\n${printableLines(text)}\n${ticks}`;
}

/** Longer than any run of backticks within. */
function fence(text: string, least: string): string {
  const runs = [...text.matchAll(/`+/g)].map(([run]) => run.length);
  const length = Math.max(0, ...runs) + 1;
  return "`".repeat(Math.max(least.length, runs.length > 0 ? length : least.length));
}

/** Its cells are Markdown already. */
export function table(heads: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n");
}

/** A box that forges show in red. */
export const caution = (lines: string[]): string =>
  ["[!CAUTION]", ...lines].map((line) => `> ${line}`.trimEnd()).join("\n");
