import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { AppCred, Consortium, Node } from "../../../sdk";
import { readCreateLog, StackLog } from "../../../provider/pulumi/stack-log";
import { createLogs, linesOf, loseAnswers, newProcess, setEnvironment, start } from "../../support/service";
import { revealed } from "../../support/double/wire";
import { ledger, type Make, onBothAdapters } from "../../support/stacks";

/*
 * A killed run leaves a log of its creates. The next one takes over the objects that the log proves to be the stack's own, and no others.
 */

const network = ledger(({ environment, membership }) => {
  new Node("n", { environment, membership });
  new AppCred("a", { environment, membership });
});

/** A stack with a single run, killed after these creates and before the state had them. */
async function killed(make: Make, names: string[], program = network) {
  const made = await make();
  expect((await made.stack.up(program, { killed: true })).errors).toEqual([]);
  made.forget(...names);
  made.service.clearCalls();
  newProcess();
  return made;
}

onBothAdapters((make, adapter) => {
  const consortium = (): unknown => new Consortium("c");

  test("another machine without the log refuses the name", async () => {
    const { stack } = await killed(make, ["c"], consortium);
    setEnvironment({ XDG_STATE_HOME: join(process.env.XDG_STATE_HOME!, "another") });
    expect((await stack.up(consortium)).failure).toContain("already taken");
  });

  test("what another stack has is not taken for an unanswered create, though that stack's run ended as it should", async () => {
    const { stack } = await killed(make, ["c"], consortium);
    const another = new StackLog(() => undefined);
    another.nameStack({ project: "another", stack: "test" });
    const lines = linesOf(createLogs()[0]!).filter((line) => !("run" in line));
    loseAnswers();
    for (const line of lines) await another.write(line);
    another.end(new Set());
    expect((await stack.up(consortium)).failure).toMatch(/the stack another\.test has \w+\. It was left as it is/);
  });

  test(`a destroy right after a killed run ${adapter === "plugin" ? "takes its node along" : "needs an up first"}`, async () => {
    const { stack, service } = await killed(make, ["n", "a"]);
    // Only the plugin is told the stack without a program.
    expect((await stack.destroy()).failure).toMatch(adapter === "plugin" ? /^$/ : /does not manage/);
    expect(service.store.nodes.list()).toHaveLength(adapter === "plugin" ? 0 : 1);
  });

  test("a run that ended normally leaves no log, and objects that its state loses are not taken again", async () => {
    const { stack, forget } = await make(consortium);
    expect(createLogs()).toEqual([]);
    forget("c");
    newProcess();
    expect((await stack.up(consortium)).failure).toContain("already taken");
  });

  test("killed again after it continued: the first run's unanswered create is settled, too", async () => {
    const { stack } = await killed(make, ["c"], consortium);
    loseAnswers();
    expect((await stack.up(consortium, { killed: true })).errors).toEqual([]);
    expect(createLogs()).toHaveLength(2);
    newProcess();
    expect((await stack.up(consortium)).changes).toEqual([]);
    expect(createLogs()).toEqual([]);
  });

  test("--replace of an object that a killed run created, and the state has, deletes nothing that the stack keeps", async () => {
    const { stack, service } = await killed(make, [], consortium);
    expect((await stack.up(consortium, { replace: ["c"] })).errors).toEqual([]);
    const [{ id } = { id: "" }, ...more] = service.store.consortia.list().filter(({ state }) => state !== "deleted");
    expect([stack.of("c").id, more]).toEqual([id, []]);
  });

  test("only the user can read the log, which contains no key and no password", async () => {
    const { service, stack } = await killed(make, []);
    const [file = ""] = createLogs();
    expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);
    const { password } = revealed(stack.of("a").outputs) as { password: string };
    expect(password).toMatch(/./);
    for (const secret of [service.apiKey, password]) expect(readFileSync(file, "utf8")).not.toContain(secret);
    expect(
      readCreateLog(file)
        .creates.map(({ resource }) => resource)
        .toSorted(),
    ).toEqual(["a", "c", "e", "m", "n"]);
  });

  test("after 30 days, it proves nothing and is removed", async () => {
    const { stack } = await killed(make, ["c"], consortium);
    utimesSync(createLogs()[0]!, 1, Date.now() / 1000 - 31 * 24 * 3600);
    expect((await stack.up(consortium)).failure).toContain("already taken");
    expect(createLogs()).toEqual([]);
  });

  test("if no file can be written, the run warns once and continues", async () => {
    const { stack, service } = await make();
    const file = join(process.env.XDG_STATE_HOME!);
    writeFileSync(file, ""); // not even root can make a folder there
    const { errors, said } = await stack.up(network);
    expect([errors, said.match(/No log of creates is kept/g)]).toEqual([[], ["No log of creates is kept"]]);
    expect(service.store.nodes.list()).toHaveLength(1);
  });
});

test("what was left behind is found like what a killed run made, but no run was killed", async () => {
  await start();
  const log = (): StackLog => {
    const one = new StackLog(() => undefined);
    one.nameStack({ project: "p", stack: "s" });
    return one;
  };
  const create = (name: string) => ({ attempt: name, path: "/consortia", name, before: [], key: "k", at: 1 });
  const first = log();
  await first.write({ left: { ...create("a"), id: "c1" } }, { left: { ...create("b"), id: "c2" } });
  first.end(new Set());
  const left = [{ name: "a" }, { name: "b" }];
  for (let runs = 0; runs < 2; runs++) expect(log().before).toMatchObject({ isContinued: false, interrupted: left });
  await log().write({ begun: create("d") });
  expect(log().before).toMatchObject({ isContinued: true, interrupted: { length: 3 } });
});
