// @ts-check
/**
 * `consortium fleet up` of more stacks than this machine could run. Its `pulumi` replays what a real `up` of one stack printed, in the
 * same time. This measures the fleet itself: its memory, its run records, its output, and a kill in the middle.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { fleetUp, jobsOf, keysOf, withService, writeFleet } from "../lib/fleets.mjs";
import { treeOf } from "../lib/processes.mjs";
import { bounded, circumstances, seconds, table, writePart } from "../lib/report.mjs";
import { finished, stateEnv } from "../lib/stack.mjs";
import { log, UserError } from "../../tools/lib/terminal.mjs";

/** A stack is a folder, and so is its lock; each `up` that ends adds a line to a file. */
const stub = `#!/bin/sh
while [ "$#" -gt 0 ]; do
  case "$1" in
    --stack) stack="$2"; shift;;
    --file) file="$2"; shift;;
    --color | --project | --tag) shift;;
    --*) ;;
    *) words="$words $1"; last="$1";;
  esac
  shift
done
cd "$REPLAY" || exit 1
case "$words" in
  " stack ls"*) printf '['; ls stacks | sed 's/.*/{"name":"&","resourceCount":1}/' | paste -sd, -; printf ']';;
  " stack init "*) mkdir "stacks/$last" || { echo "error: stack '$last' already exists" >&2; exit 255; };;
  " stack tag ls"*) echo '{}';;
  " stack export"*) echo '{"deployment":{"resources":[]}}' > "$file";;
  " cancel"*) rm -rf "locks/$stack";;
  " up"*)
    if ! mkdir "locks/$stack" 2> /dev/null; then
      echo "error: the stack is currently locked by 1 lock(s). created by $(cat "locks/$stack/holder")" >&2
      exit 255
    fi
    echo "me@$(hostname) (pid $$) at 2026-01-01T00:00:00Z" > "locks/$stack/holder"
    trap 'rm -rf "locks/$stack"; exit 255' INT TERM
    if [ -f "made/$stack" ]; then sed 's/"op":"create"/"op":"same"/' events/*; else . ./play.sh; fi
    echo once >> "made/$stack"
    rm -rf "locks/$stack";;
esac
`;

const logsOf = (/** @type {string} */ folder) => join(folder, ".consortium/fleet/bench/logs");
const recordsOf = (/** @type {string} */ folder) => join(folder, ".consortium/fleet/bench/journal");
const namesIn = (/** @type {string} */ folder, end = "") =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(end)) : [];

/** What a real `up` printed, in parts, each with its time. @param {import("../lib/stack.mjs").PulumiCli} cli */
const record = (cli) =>
  withService(jobsOf(1), async (service, folder) => {
    writeFleet(folder, jobsOf(1), () => service.organizations[0]?.id);
    const env = { ...stateEnv(cli, folder), CONSORTIUM_BASE_URL: service.baseUrl, ...keysOf(jobsOf(1)) };
    const events = join(logsOf(folder), "org0-n0.log.json");
    /** @type {{ at: number, size: number }[]} */
    const parts = [];
    let begun = 0;
    const timer = setInterval(() => {
      if (!existsSync(events)) return;
      const { length } = readFileSync(events);
      if (begun === 0) begun = performance.now();
      if (length > (parts.at(-1)?.size ?? 0)) parts.push({ at: performance.now() - begun, size: length });
    }, 100);
    const { code, text } = await finished(fleetUp(folder, env, 1)).finally(() => clearInterval(timer));
    if (code !== 0) throw new UserError(`The run to record failed: ${text}`);
    const whole = readFileSync(events);
    parts[parts.length - 1] = { at: parts.at(-1)?.at ?? 0, size: whole.length };
    return parts.map(({ at, size }, index) => ({
      waitMs: at - (parts[index - 1]?.at ?? 0),
      text: whole.subarray(parts[index - 1]?.size ?? 0, size),
    }));
  });

/**
 * Follows a run of the fleet until it ends, or kills it after so many stacks.
 * @param {string} folder
 * @param {Record<string, string | undefined>} env
 * @param {{ parallel: number, killAt?: number }} options
 */
async function followed(folder, env, { parallel, killAt = Infinity }) {
  const child = fleetUp(folder, env, parallel);
  let [done, lines, records] = [0, 0, 0];
  /** @type {{ done: number, bytes: number }[]} */
  const memory = [];
  child.stderr.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
    lines += text.split("\n").length - 1;
    done += text.match(/\] (ok|failed),/g)?.length ?? 0;
    if (done >= killAt) child.kill("SIGKILL");
  });
  const timer = setInterval(() => {
    records = Math.max(records, namesIn(recordsOf(folder), ".json").length);
    memory.push({ done, bytes: treeOf(child.pid ?? 0)[0]?.rss ?? 0 });
  }, 500);
  const { code, text, ms } = await finished(child).finally(() => clearInterval(timer));
  return { code, text, ms, done, lines, records, memory };
}

/** @param {import("../../tools/lib/pulumi-cli.mjs").PulumiCli} cli @param {number} stacks @param {number} parallel */
export async function replay(cli, stacks, parallel) {
  const top = mkdtempSync(join(tmpdir(), "consortium-bench-replay-"));
  const state = join(top, "state");
  const bin = join(top, "bin");
  const folder = mkdtempSync(join(top, "fleet-"));
  try {
    const parts = await record(cli);
    for (const name of ["stacks", "locks", "made", "events"]) mkdirSync(join(state, name), { recursive: true });
    const steps = parts.map(({ waitMs, text }, index) => {
      const name = `events/${String(index).padStart(4, "0")}`;
      writeFileSync(join(state, name), text);
      return `sleep ${(waitMs / 1000).toFixed(3)}; cat ${name}\n`;
    });
    writeFileSync(join(state, "play.sh"), steps.join(""));
    mkdirSync(bin);
    writeFileSync(join(bin, "pulumi"), stub);
    chmodSync(join(bin, "pulumi"), 0o755);
    const jobs = jobsOf(stacks);
    writeFleet(folder, jobs, (organization) => organization);
    const PATH = [bin, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
    const env = { ...stateEnv(cli, top), PATH, REPLAY: state, ...keysOf(jobs) };
    const took = parts.reduce((sum, { waitMs }) => sum + waitMs, 0);
    log(`recorded: ${parts.length} parts in ${seconds(took)}`);

    const killed = await followed(folder, env, { parallel, killAt: stacks / 2 });
    const left = namesIn(recordsOf(folder), ".json").length;
    log(`killed after ${killed.done} of ${stacks} stacks, in ${seconds(killed.ms)}; ${left} were at work`);
    const again = await followed(folder, env, { parallel });
    if (again.code !== 0) throw new UserError(`The second run failed: ${again.text.slice(-3000)}`);
    const recovered = again.text.match(/continued where a killed run stopped/g)?.length ?? 0;
    log(`again: ${again.done} stacks in ${seconds(again.ms)}, ${recovered} of them continued`);

    const peak = (/** @type {number} */ from, /** @type {number} */ to) =>
      Math.max(
        ...again.memory.filter(({ done }) => done >= from * stacks && done <= to * stacks).map(({ bytes }) => bytes),
      );
    const [early, late] = [peak(0.25, 0.5), peak(0.75, 1)];
    const megabytes = (/** @type {number} */ bytes) => `${Math.round(bytes / 1e6)} MB`;
    const records = Math.max(killed.records, again.records);
    const lacking =
      stacks - namesIn(join(state, "stacks")).filter((name) => existsSync(join(state, "made", name))).length;
    const open = [...namesIn(recordsOf(folder), ".json"), ...namesIn(join(state, "locks"))].length;
    const rows = [
      bounded(`memory of the fleet in the last quarter of ${stacks} stacks, ${parallel} at once`, late / early, {
        most: 1.25,
        of: "that in the second quarter",
        measured: `${megabytes(late)} against ${megabytes(early)}`,
      }),
      bounded(`run records at most, with ${left} that the kill left`, records, { most: parallel + left }),
      bounded("lines of output for each stack, without the summary", again.lines / stacks, {
        most: 16,
        measured: (again.lines / stacks).toFixed(1),
      }),
      bounded("stacks not as defined after the second run, and locks and records that stayed", lacking + open, {
        most: 0,
        measured: `${lacking}, and ${open}`,
      }),
    ];
    const details = table(
      ["", "stacks done", "wall clock"],
      [
        ["until the kill", String(killed.done), seconds(killed.ms)],
        [`the second run, which continued ${left} that were at work`, String(again.done), seconds(again.ms)],
      ],
    );
    const figures = table(
      ["", "measured"],
      rows.map(({ measure, measured }) => [measure, measured]),
    );
    const text = `${await circumstances(cli)}; one \`up\` takes ${seconds(took)}.`;
    await writePart("docs/fleet.md", "replay", `${text}\n\n${details}\n\n${figures}`);
    return { rows, details };
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}
