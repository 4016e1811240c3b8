import { join } from "node:path";
import { PulumiCommand } from "@pulumi/pulumi/automation";
import limited from "p-limit";
import { type Changes } from "./changes";
import { type Fleet, type FleetStack } from "./file";
import { isolateErrors } from "./isolation";
import { Journal } from "./journal";
import { Cli, PulumiFailed, type Stop } from "./pulumi";
import { clearAfterDeadRuns } from "./recovery";
import { type Secrets } from "./secrets";
import { type Command, type Result, type Shop, StackRun } from "./stack";
import { prepareWorkspace, sharedEnvironment } from "./workspace";

type Env = Record<string, string | undefined>;

/** Shows what is going on. */
export interface View {
  begin(stack: string): void;
  tell(stack: string, changes: Changes, lines: string[]): void;
  end(result: Result): void;
  close(): void;
}

export interface RunOptions {
  command: Command;
  /** Those of the fleet that are wanted. */
  stacks: FleetStack[];
  parallel: number;
  refresh?: boolean;
  secrets: Secrets;
  env: Env;
  view: View;
  stop: Stop;
}

/** Runs a command for many stacks, some at a time; one that fails does not stop the others. */
export async function runFleet(fleet: Fleet, options: RunOptions): Promise<Result[]> {
  const { command, stacks, parallel, secrets, view, stop } = options;
  isolateErrors();
  const pulumi = await findPulumi();
  const workFolder = prepareWorkspace(fleet);
  const journal = new Journal(workFolder);
  const run = journal.open(command);
  try {
    const environment = sharedEnvironment(fleet, secrets, options.env, run.run.id);
    await clearAfterDeadRuns(journal, environment.PULUMI_BACKEND_URL);
    const known = await knownStacks(
      new Cli({ ...pulumi, env: environment, log: join(workFolder, "logs", "fleet.log"), stop }),
      workFolder,
    );
    const shop: Shop = {
      ...{ command, workFolder, journal, run, secrets, environment, pulumi, known, stop },
      secretsProvider: fleet.secretsProvider,
      refresh: options.refresh ?? false,
      tell: (stack, changes, lines) => view.tell(stack, changes, lines.map(secrets.mask)),
    };
    const limit = limited(parallel);
    return await Promise.all(
      stacks.map((stack) =>
        limit(async () => {
          if (stop.raised) return notBegun(stack);
          view.begin(stack.name);
          const result = await new StackRun(stack, shop).result();
          view.end(result);
          return result;
        }),
      ),
    );
  } finally {
    run.close();
    view.close();
  }
}

const notBegun = ({ name, organization }: FleetStack): Result => ({
  ...{ stack: name, organization: organization.name, outcome: "not begun" },
  counts: { created: 0, updated: 0, replaced: 0, deleted: 0, unchanged: 0 },
  ...{ seconds: 0, ledgers: [], drift: [], recovered: false },
});

async function findPulumi(): Promise<{ command: string; version: PulumiCommand["version"] }> {
  try {
    return await PulumiCommand.get();
  } catch (error) {
    const text = String((error as Error).message);
    const why = text.includes("ENOENT") ? "there is none on PATH" : text.split("\n").find((line) => line.trim() !== "");
    throw new Error(`A Pulumi CLI is needed: ${why}. See https://www.pulumi.com/docs/install/.`, { cause: error });
  }
}

/** Asked for once, instead of once for each stack. */
async function knownStacks(cli: Cli, workFolder: string): Promise<Set<string>> {
  try {
    const { stdout } = await cli.run(["stack", "ls", "--json"], workFolder, {});
    const list = JSON.parse(stdout.slice(stdout.indexOf("["), stdout.lastIndexOf("]") + 1)) as { name: string }[];
    return new Set(list.map(({ name }) => name.split("/").at(-1)!));
  } catch (error) {
    if (!(error instanceof PulumiFailed)) throw error;
    throw new Error(`The backend cannot be asked for its stacks: ${error.output.trim().replace(/^error: /, "")}`, {
      cause: error,
    });
  }
}
