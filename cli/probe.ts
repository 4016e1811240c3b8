import { randomBytes } from "node:crypto";
import { constants } from "node:os";
import { type Command } from "@commander-js/extra-typings";
import { resolveSettings, type Settings } from "../provider/api";
import { printableLines } from "../provider/api/printable";
import { questions } from "./probe/questions";
import { World } from "./probe/world";
import { connectionHelp } from "./shared/connection";
import { newTable } from "./shared/formats";
import {
  confirm,
  fail,
  type FlagsOf,
  print,
  replaceFile,
  say,
  stopSignals,
  wholeNumber,
  writable,
} from "./shared/terminal";

const defaultWait = 300;

const options = (command: Command) =>
  command
    .option("--yes", "do not ask for confirmation")
    .option("--save <file>", "also write the answers for `consortium serve --like <file>`")
    .option("--wait <seconds>", "time limit of each wait", wholeNumber(1), defaultWait);

type Flags = FlagsOf<typeof options>;

export function define(command: Command): void {
  options(command)
    .addHelpText(
      "after",
      "\nFinds out what the service's documentation leaves open: creates a consortium with an environment and a node, looks at\n" +
        "the responses and at the node's ledger, and deletes what it created, even after an error or Ctrl-C. Touches nothing\n" +
        "else. Takes minutes, until the node has started. The file has no key, id or name. Without --yes, asks for confirmation,\n" +
        "so it needs a terminal.\n" +
        `${connectionHelp}\n` +
        "Exit code 1: it could not find out everything, or could not delete everything.",
    )
    .action(probe);
}

async function probe(flags: Flags): Promise<void> {
  const settings = resolveSettings();
  if (flags.save !== undefined) writable(flags.save);
  const name = `probe-${randomBytes(6).toString("hex")}`;
  say(intent(settings, name));
  if (!flags.yes && !(await confirm("Make them?")))
    throw new Error("Nothing was created: confirm at a terminal, or use --yes.");
  const [stop, giveUp] = [new AbortController(), new AbortController()];
  const onSignal = (signal: NodeJS.Signals): void => {
    say(
      stop.signal.aborted ? "Stopping at once." : "Deleting what was created. Press Ctrl-C again to stop immediately.",
    );
    process.exitCode = 128 + constants.signals[signal];
    (stop.signal.aborted ? giveUp : stop).abort();
  };
  for (const signal of stopSignals) process.on(signal, onSignal);
  const world = new World(settings, name, flags.wait * 1000, stop.signal, giveUp.signal);
  try {
    await run(world, flags, stop.signal);
  } finally {
    for (const signal of stopSignals) process.off(signal, onSignal);
    await world.client.close();
  }
}

const intent = ({ baseUrl }: Settings, name: string): string =>
  `At ${baseUrl}, this creates a consortium, a membership (if the consortium has none), an environment (quorum, raft)\n` +
  `and a node of the default size, all with the name ${name}, and a credential. It sends the node one empty transaction,\n` +
  "pauses the environment for a moment, tries one wrong key, and then deletes everything. The objects count toward the limits of your plan, and may cost money until then.";

async function run(world: World, flags: Flags, stop: AbortSignal): Promise<void> {
  const rows: string[][] = [];
  const askAll = async (isAfter: boolean): Promise<void> => {
    for (const { question, use, ask } of questions.filter(({ after = false }) => after === isAfter)) {
      say(`${question} …`);
      rows.push([question, await ask(world), use]);
    }
  };
  let failure: unknown;
  try {
    await world.client.proveKey(); // once the service has answered with JSON, its plain 404s are its own and not retried
    await askAll(false);
    stop.throwIfAborted();
  } catch (error) {
    failure = error;
    if (!stop.aborted) {
      fail(error);
      say("Deleting what was created.");
    }
  }
  const left = await world.clear(failure !== undefined);
  if (failure === undefined) await askAll(true);
  process.stdout.write(`${tableOf(rows)}\n`);
  const { answers, timing } = world; // settings of a service only: no keys, ids or names
  if (failure === undefined && flags.save !== undefined)
    replaceFile(flags.save, `${JSON.stringify({ answers, timing }, null, 2)}\n`);
  if (left.length === 0) print("Everything that the probe created is deleted.");
  else
    fail(
      new Error(
        `not deleted; delete it in the console or with \`npx --no-install pulumi-consortium sweep --id\`:\n${left.join("\n")}`,
      ),
      exitCode(),
    );
}

const exitCode = (): number => Number(process.exitCode) || 1;

function tableOf(rows: readonly string[][]): string {
  const table = newTable({ head: ["question", "answer", "what the provider does"] }, Boolean(process.stdout.isTTY));
  table.push(...rows.map((row) => row.map((cell) => printableLines(cell))));
  return table.toString();
}
