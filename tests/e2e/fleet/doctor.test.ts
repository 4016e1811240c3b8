import { spawn } from "node:child_process";
import { join } from "node:path";
import { endProcesses, markOf, openRun } from "../../../fleet/recovery";
import { until } from "../../support/until";
import { exactly, FleetWorld, secretsIn } from "../support/fleet";
import { finished } from "../support/stack";

/* `doctor` on stacks of the real CLI: what it says before a run, during one and after it was killed, and that its advice helps. */

interface Told {
  ok: boolean;
  findings: { about: string; state: string; text: string; next?: string; code?: string }[];
}

let w: FleetWorld;
beforeAll(async () => {
  w = await FleetWorld.create({ nodeStart: 3_600_000 });
  w.fleet({ acme: { prod: "networks/trade.yaml" }, globex: { prod: "networks/trade.yaml" } });
});

/** What it finds, besides the packages of this folder, which is no project of a user. */
async function examined() {
  const { code, stdout, text } = await w.run("doctor", "--json");
  expect(secretsIn(text)).toEqual([]);
  const { ok, findings } = JSON.parse(stdout) as Told;
  expect(code).toBe(ok ? 0 : 1);
  const own = findings.filter(({ about }) => !["package", "Pulumi SDK", "plugin"].includes(about));
  const of = (state: string) =>
    own.filter((one) => one.state === state).map(({ about, text: said }) => `${about}: ${said}`);
  const [next, codes] = [own.flatMap((one) => one.next ?? []), own.flatMap(({ code: one }) => one ?? [])];
  return { wrong: of("wrong"), notes: of("note"), ok: of("ok"), next, codes };
}

const holder = String.raw`\S+@\S+ \(process \d+\) since \S+`;
const like = (text: string) => expect.stringMatching(new RegExp(`^${text}$`)) as string;

/** One story: each test goes on where the one before it ended. */
test("before the first run, nothing is wrong, and nothing is made", async () => {
  const { wrong, notes } = await examined();
  expect(wrong).toEqual([]);
  expect(notes).toEqual([like("backend: file://.*/state does not exist yet: the first run creates it")]);
  expect(w.has("state")).toBe(false);
});

test("while a run is at work, it is named", async () => {
  const run = w.start("up", "--yes", "--only", "acme-*");
  const end = finished(run);
  await until(() => w.service.store.nodes.list().length === 1);
  const { wrong, next, ok } = await examined();
  expect(wrong).toEqual([like(`acme-prod: run: a run is changing the stack: ${holder}`)]);
  expect(next).toEqual(["Wait for that run."]);
  expect(ok.at(-1)).toMatch(/^backend: .*\/state: 1 of 2 stacks exist$/);
  const [record] = w.records();
  run.kill("SIGKILL");
  await endProcesses(markOf(record!));
  await end;
  await until(async () => (await openRun(record!))?.isAtWork === false); // the lock on it gets old
});

const killed = like(`acme-prod: run: a run was killed while it was changing the stack: ${holder}`);
const locked = like(`acme-prod: lock: the stack is locked by ${holder}, which has ended`);

test("after it was killed: the record, the lock, and one thing to do", async () => {
  const { wrong, next } = await examined();
  expect(wrong).toEqual([killed, locked]);
  expect(new Set(next)).toEqual(
    new Set([like("Run `consortium fleet up .*fleet.yaml --only acme-prod`, which continues .*")]),
  );
});

test("a lock of nobody's record goes as it says", async () => {
  const [record] = w.records();
  const text = w.read(record!.slice(w.folder.length + 1));
  w.remove(record!.slice(w.folder.length + 1));
  const { wrong, next } = await examined();
  expect(wrong).toEqual([locked]);
  const [, command = "", folder = ""] =
    /^Run `pulumi (.*)` in (\S+), with the fleet's backend as PULUMI_BACKEND_URL\.$/.exec(next[0]!)!;
  const env = { ...w.env, PULUMI_BACKEND_URL: `file://${join(w.folder, "state")}` };
  expect(await finished(spawn("pulumi", command.split(" "), { cwd: folder, env }))).toMatchObject({ code: 0 });
  w.write(record!.slice(w.folder.length + 1), text);
  expect((await examined()).wrong).toEqual([killed]);
});

test("the next run continues, and nothing is wrong", async () => {
  w.service.store.nodes.list().forEach(({ id }) => w.service.store.nodes.setState(id, "started"));
  expect(await w.run("up", "--yes", "--only", "acme-prod")).toMatchObject({ code: 0 });
  expect(await w.counts("acme")).toMatchObject({ ...exactly, appcreds: expect.any(Number) as number });
  const { wrong, ok } = await examined();
  expect(wrong).toEqual([]);
  expect(ok.at(-1)).toMatch(/: 1 of 2 stacks exist$/);
});

test("a state that is cut off is named, though Pulumi lists no stack because of it", async () => {
  const file = "state/.pulumi/stacks/fleet/acme-prod.json";
  const whole = w.read(file);
  w.write(file, whole.slice(0, 300));
  const { wrong, next, codes } = await examined();
  expect(wrong).toEqual([
    like("backend: Pulumi cannot list the stacks of the backend: .*unexpected end of JSON input"),
  ]);
  expect(codes).toEqual(["unreachable"]);
  expect(next).toEqual([expect.stringContaining("docs/recovery.md#a-state-file-that-was-cut-off")]);
  w.write(file, whole);
  expect((await examined()).wrong).toEqual([]);
});
