import Table from "cli-table3";
import { type Progress } from "./progress";
import { type Result } from "./stack";

/** Shows what is going on. */
export interface View {
  begin(stack: string): void;
  tell(stack: string, progress: Progress, lines: string[]): void;
  end(result: Result): void;
  close(): void;
}

/** A line for each event, which begins with its stack: for logs. */
export function plainView(print: (line: string) => void): View {
  const say = (stack: string, text: string) => print(`[${stack}] ${text}`);
  return {
    begin: (stack) => say(stack, "begins"),
    tell: (stack, _progress, lines) => lines.forEach((line) => say(stack, line)),
    end: ({ stack, outcome, seconds }) => say(stack, `${outcome}, ${seconds.toFixed(1)} s`),
    close: () => undefined,
  };
}

interface Row {
  stack: string;
  outcome: string;
  now: string;
  startedAt: number;
  seconds?: number;
}

/** Lines of the borders and the heading. */
const borders = 5;
const framesMs = 200;

/** The stacks that run or failed, the newest last, and a count of the rest. */
export function liveTable(
  rows: readonly Row[],
  total: number,
  at: number,
  screen: { rows: number; columns: number; colors: boolean },
): string {
  const running = rows.filter(({ outcome }) => outcome === "running");
  const bad = rows.filter(({ outcome }) => outcome !== "running" && outcome !== "ok");
  const shown = [...bad, ...running].slice(-Math.max(1, screen.rows - borders));
  const name = Math.max(5, ...shown.map(({ stack }) => stack.length)) + 2;
  const table = new Table({
    head: ["stack", "", "seconds", "now"],
    colWidths: [name, 13, 9, Math.max(20, screen.columns - name - 13 - 9 - 6)],
    style: screen.colors ? { head: ["cyan"], compact: true } : { head: [], border: [], compact: true },
  });
  for (const { stack, outcome, now, startedAt, seconds } of shown)
    table.push([stack, outcome, (seconds ?? (at - startedAt) / 1000).toFixed(1), now]);
  const done = rows.length - running.length;
  return `${table.toString()}\n${done} of ${total} done, ${total - rows.length} waiting`;
}

/** A table that is redrawn while the stacks run. */
export async function liveView(stream: NodeJS.WriteStream, total: number, colors: boolean): Promise<View> {
  const { createLogUpdate } = await import("log-update");
  const update = createLogUpdate(stream);
  const rows = new Map<string, Row>();
  const draw = () => {
    const screen = { rows: stream.rows || 24, columns: stream.columns || 80, colors };
    update(liveTable([...rows.values()], total, performance.now(), screen));
  };
  const timer = setInterval(draw, framesMs);
  const set = (stack: string, change: Partial<Row>) => {
    const before = rows.get(stack) ?? { stack, outcome: "running", now: "", startedAt: performance.now() };
    rows.set(stack, { ...before, ...change });
  };
  return {
    begin: (stack) => set(stack, {}),
    tell: (stack: string, { now }: Progress) => set(stack, { now: now.replaceAll(/\s+/g, " ") }),
    end: ({ stack, outcome, seconds, error }: Result) =>
      set(stack, { outcome, seconds, now: (error ?? "").split("\n")[0]! }),
    close: () => {
      clearInterval(timer);
      update.clear(); // the summary follows
      update.done();
    },
  };
}
