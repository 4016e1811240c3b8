import { create } from "xmlbuilder";
import { type Command, type Result } from "./stack";

/** What JUnit's readers take for one test: a stack. */
export function junit(command: Command, project: string, results: readonly Result[], took: number): string {
  const failed = results.filter(({ outcome }) => outcome === "failed" || outcome === "drift");
  const skipped = results.filter(({ outcome }) => outcome === "not begun" || outcome === "interrupted");
  const root = create("testsuites", {
    ...{ encoding: "UTF-8", invalidCharReplacement: "?" },
  });
  const suite = root.element("testsuite", {
    name: `consortium fleet ${command}: ${project}`,
    ...{ tests: results.length, failures: failed.length, errors: 0, skipped: skipped.length, time: took.toFixed(3) },
  });
  for (const result of results) {
    const test = suite.element("testcase", {
      classname: `${project}.${result.organization}`,
      ...{ name: result.stack, time: result.seconds.toFixed(3) },
    });
    const { created, updated, replaced, deleted, unchanged } = result.counts;
    if (failed.includes(result)) {
      const text = result.error ?? result.drift.join("\n");
      test.element("failure", { type: result.outcome, message: text.split("\n")[0] ?? "" }, text);
    }
    if (skipped.includes(result)) test.element("skipped", { message: result.outcome });
    const lines = [
      `${created} created, ${updated} updated, ${replaced} replaced, ${deleted} deleted, ${unchanged} unchanged`,
      ...result.ledgers.map((text) => `WARNING: ${text}, with its ledger`),
    ];
    test.element("system-out", {}, lines.join("\n"));
  }
  return root.end({ pretty: true });
}
