import { format } from "node:util";
import { main } from "../../cli/consortium";
import { fail } from "../../cli/shared/terminal";

/** The result of a process that runs the command: see `consortium` of tests/service/child.ts, which starts one. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** The settings of a command that asks a service. */
export const connection = ({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }) => ({
  CONSORTIUM_BASE_URL: baseUrl,
  CONSORTIUM_API_KEY: apiKey,
});

let last: Promise<unknown> = Promise.resolve();

/** Runs the command to its end, in this process: one at a time, because what it prints and its settings are the process's own. */
export function consortium(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const ended = last.then(() => run(args, env));
  last = ended.catch(() => undefined);
  return ended;
}

class Exit extends Error {}

async function run(args: string[], env: Record<string, string>): Promise<Ended> {
  const { exitCode, env: own } = process;
  const printed = { stdout: "", stderr: "" };
  const capture = (stream: "stdout" | "stderr", log: "log" | "error") => [
    jest.spyOn(process[stream], "write").mockImplementation((chunk) => ((printed[stream] += String(chunk)), true)),
    jest.spyOn(console, log).mockImplementation((...values) => void (printed[stream] += `${format(...values)}\n`)),
  ];
  const spies = [
    ...capture("stdout", "log"),
    ...capture("stderr", "error"),
    jest.spyOn(process, "exit").mockImplementation((code) => {
      process.exitCode = code ?? undefined;
      throw new Exit();
    }),
  ];
  process.env = { ...own, ...env };
  process.exitCode = undefined;
  try {
    await main(args).catch((error: unknown) =>
      error instanceof Exit ? undefined : fail(error, { json: args.includes("--json") }),
    );
    return { code: Number(process.exitCode ?? 0), ...printed };
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.env = own;
    process.exitCode = exitCode;
  }
}
