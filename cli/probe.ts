import { randomBytes } from "node:crypto";
import { constants } from "node:os";
import { type Command } from "@commander-js/extra-typings";
import { resolveSettings, type Settings } from "../provider/api";
import { messageOf } from "../provider/plain";
import { version } from "../provider/version";
import { type FactName, facts } from "./probe/facts";
import { questions } from "./probe/questions";
import { type Answer, type Question, type Verdict, World } from "./probe/world";
import { UserError } from "../provider/errors";
import { connectionHelp } from "./shared/connection";
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
    .option("--save <file>", "also write what was seen, for `consortium serve --like <file>`")
    .option("--tether <id>", "also try this tether service, which nothing may use: it is set, deployed and started")
    .option("--wait <seconds>", "time limit of each wait", wholeNumber(1), defaultWait);

type Flags = FlagsOf<typeof options>;

export function define(command: Command): void {
  options(command)
    .addHelpText(
      "after",
      "\nAsks the service what its documentation leaves open, and says of each assumption about the hosted service whether it\n" +
        "holds. Creates a consortium with an environment, a node and a credential, and deletes them, even after an error or\n" +
        "Ctrl-C. Touches nothing else. Takes about ten minutes. The file has no key, id or name, and is also written after an\n" +
        "error. A tether cannot be created, so name an unused one; it pays for its contract and its reports. Asks before it\n" +
        "creates or pays, so without --yes it needs a terminal.\n" +
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
    throw new UserError("missing-argument", "Confirm at a terminal, or use --yes: nothing was created.");
  const tether = flags.tether === undefined ? undefined : await askToPay(flags.tether, flags.yes === true);
  const [stop, giveUp] = [new AbortController(), new AbortController()];
  const onSignal = (signal: NodeJS.Signals): void => {
    say(
      stop.signal.aborted ? "Stopping at once." : "Deleting what was created. Press Ctrl-C again to stop immediately.",
    );
    process.exitCode = 128 + constants.signals[signal];
    (stop.signal.aborted ? giveUp : stop).abort();
  };
  for (const signal of stopSignals) process.on(signal, onSignal);
  const world = new World(settings, name, flags.wait * 1000, stop.signal, giveUp.signal, tether);
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

async function askToPay(id: string, isConfirmed: boolean): Promise<{ id: string; mayPay: boolean }> {
  say(
    `It also changes the network and the interval of the tether ${id}. To find out the unit of the interval, it deploys\n` +
      "the tether's contract and starts it for up to three minutes. The tether's account pays for that on the public chain.",
  );
  return { id, mayPay: isConfirmed || (await confirm("Deploy and start it, too?")) };
}

type Told = Record<string, Answer | string>;

async function run(world: World, flags: Flags, stop: AbortSignal): Promise<void> {
  const told: Told = {};
  const askAll = async (isAfter: boolean): Promise<void> => {
    for (const { question, ask } of questions.filter(({ after = false }) => after === isAfter)) {
      say(`${question} …`);
      told[question] = await ask(world);
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
  const why = failure === undefined ? undefined : stop.aborted ? "the run was stopped" : messageOf(failure);
  const rows = rowsOf(told, why && `not asked: ${world.notes.plain(why)}`);
  print(linesOf(told, rows));
  if (flags.save !== undefined) replaceFile(flags.save, `${JSON.stringify(fileOf(world, told, rows, why), null, 2)}\n`);
  if (left.length === 0) print("Everything that the probe created is deleted.");
  else
    fail(
      new UserError(
        "not-deleted",
        `not deleted; delete it in the console or with \`npx --no-install consortium sweep --id\`:\n${left.join("\n")}`,
      ),
      { exitCode: exitCode() },
    );
}

const exitCode = (): number => Number(process.exitCode) || 1;

interface Row {
  fact: string;
  is: Verdict;
  seen: string;
}

/** What was seen of each fact. Of several questions about one, the worst answer counts. @param otherwise the answer to questions that were not asked */
function rowsOf(told: Told, otherwise = ""): Record<FactName, Row> {
  const rowOf = (name: FactName): Row => {
    const asked = questions.filter(({ fact }) => fact === name);
    const answers = asked.map(({ question }) => [question, told[question] ?? otherwise] as const);
    const all = answers.map(([, answer]) => verdictOf(answer));
    const is = (["otherwise", "not seen"] as const).find((one) => all.includes(one)) ?? "as assumed";
    return {
      fact: facts[name].fact,
      is,
      seen: answers.map(([question, one]) => `${question}: ${saidIn(one)}`).join("; "),
    };
  };
  return Object.fromEntries((Object.keys(facts) as FactName[]).map((name) => [name, rowOf(name)])) as Record<
    FactName,
    Row
  >;
}

const verdictOf = (answer: Answer | string): Verdict => (typeof answer === "string" ? "not seen" : answer.is);
const saidIn = (answer: Answer | string): string => (typeof answer === "string" ? answer : answer.said);

function linesOf(told: Told, rows: Record<FactName, Row>): string[] {
  const isAbout = ({ fact }: Question): boolean => fact !== undefined;
  const asked = questions.filter(({ question }) => told[question] !== undefined);
  const lineOf = (one: Question): string => {
    const answer = told[one.question]!;
    return `${(isAbout(one) ? verdictOf(answer) : "").padEnd(12)}${one.question}: ${saidIn(answer)}`;
  };
  const count = (verdict: Verdict): number => Object.values(rows).filter(({ is }) => is === verdict).length;
  return [
    ...asked.filter(isAbout).map(lineOf),
    ...asked.filter((one) => !isAbout(one)).map(lineOf),
    `Of ${Object.keys(rows).length} assumptions: ${count("as assumed")} as assumed, ${count("otherwise")} otherwise, ${count("not seen")} not seen.`,
  ];
}

/** Settings of a service, and what was seen of it: no keys, ids or names. */
function fileOf(
  { answers, timing, notes }: World,
  told: Told,
  rows: Record<FactName, Row>,
  why: string | undefined,
): object {
  const { kinds, refusals, latency } = notes;
  if (notes.usualMs > 0) timing.latency = notes.usualMs;
  const others = questions.filter(({ question, fact }) => fact === undefined && told[question] !== undefined);
  const also = Object.fromEntries(others.map(({ question }) => [question, saidIn(told[question]!)]));
  const ended = why && { ended: notes.plain(why) };
  return { answers, timing, seen: { version, ...ended, facts: rows, also, kinds, refusals, latency } };
}
