import { readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { AppCred, Consortium, Node } from "../../../sdk";
import { readCreateLog } from "../../../provider/pulumi/stack-log";
import { createLogs, loseAnswers, newProcess } from "../../support/service";
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

  test(`a destroy right after a killed run ${adapter === "plugin" ? "takes its node along" : "needs an up first"}`, async () => {
    const { stack, service } = await killed(make, ["n", "a"]);
    // Only the plugin is told the stack without a program.
    expect((await stack.destroy()).failure).toMatch(adapter === "plugin" ? /^$/ : /does not manage/);
    expect(service.store.nodes.list()).toHaveLength(adapter === "plugin" ? 0 : 1);
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

  test("if no file can be written, the run warns once and continues", async () => {
    const { stack, service } = await make();
    const file = join(process.env.XDG_STATE_HOME!);
    writeFileSync(file, ""); // not even root can make a folder there
    const { errors, said } = await stack.up(network);
    expect([errors, said.match(/No log of creates is kept/g)]).toEqual([[], ["No log of creates is kept"]]);
    expect(service.store.nodes.list()).toHaveLength(1);
  });
});
