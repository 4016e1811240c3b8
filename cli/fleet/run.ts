import { join } from "node:path";
import limited from "p-limit";
import { type Fleet, type FleetStack } from "./file";
import { Journal } from "./journal";
import { prepareWorkFolder } from "./project";
import { pulumi, PulumiFailed, type PulumiOptions, type Stop } from "./pulumi";
import { dropTornAttributes } from "./recovery";
import { type Secrets, sharedEnvironment } from "./secrets";
import { type Command, type Result, type RunContext, StackRun } from "./stack";
import { type View } from "./view";

export interface RunOptions {
  command: Command;
  /** The stacks of the fleet to run it for. */
  stacks: FleetStack[];
  parallel: number;
  refresh?: boolean;
  secrets: Secrets;
  env: NodeJS.ProcessEnv;
  view: View;
  stop: Stop;
}

/** Runs a command for many stacks in parallel; one that fails does not stop the others. */
export async function runFleet(fleet: Fleet, options: RunOptions): Promise<Result[]> {
  const { command, stacks, parallel, secrets, view, stop, refresh = false } = options;
  const workFolder = prepareWorkFolder(fleet);
  const journal = new Journal(workFolder, command);
  try {
    const environment = sharedEnvironment(fleet, secrets, options.env);
    if (await journal.takeOver(stacks.map(({ name }) => name))) dropTornAttributes(environment.PULUMI_BACKEND_URL);
    const log = join(workFolder, "logs", "fleet.log");
    const known = await knownStacks({ cwd: workFolder, env: environment, log, stop });
    const tell = view.tell.bind(view);
    const context: RunContext = {
      ...{ fleet, command, workFolder, journal, secrets, environment, refresh, known, stop, tell },
    };
    const limit = limited(parallel);
    return await Promise.all(
      stacks.map((stack) =>
        limit(async () => {
          if (stop.raised) return notBegun(stack);
          view.begin(stack.name);
          const result = await new StackRun(stack, context).result();
          view.end(result);
          return result;
        }),
      ),
    );
  } finally {
    await journal.close();
    view.close();
  }
}

const notBegun = ({ name, organization }: FleetStack): Result => ({
  ...{ stack: name, organization: organization.name, outcome: "not begun" },
  counts: { created: 0, updated: 0, replaced: 0, deleted: 0, unchanged: 0 },
  ...{ seconds: 0, ledgers: [], drift: [], recovered: false },
});

/** Lists the stacks once, instead of once for each stack. */
async function knownStacks(options: PulumiOptions): Promise<Set<string>> {
  try {
    const output = await pulumi(["stack", "ls", "--json"], options);
    const list = JSON.parse(output.slice(output.indexOf("["), output.lastIndexOf("]") + 1)) as { name: string }[];
    return new Set(list.map(({ name }) => name.split("/").at(-1)!));
  } catch (error) {
    if (!(error instanceof PulumiFailed)) throw error;
    throw new Error(`Cannot list the stacks of the backend: ${error.output.trim().replace(/^error: /, "")}`, {
      cause: error,
    });
  }
}
