// @ts-check
/**
 * npm run mutations [-- WORDS OF A RULE]: breaks twenty rules, one at a time, in a copy of the repository, and runs the tests of
 * each. If none fails, the rule has lost its test: exit code 1. About five minutes.
 */
import "./lib/node-version.mjs";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, installPackages, root } from "./lib/prepare.mjs";
import { interruptible, run } from "./lib/processes.mjs";
import { runMain, log, UserError } from "./lib/terminal.mjs";

/** @typedef {{ rule: string, file: string, find: string, put: string, tests: string }} Mutation `tests`: the file that must fail */

/** @type {Mutation[]} */
const mutations = [
  // the core
  {
    rule: "an unset argument is the same as none",
    file: "provider/core/values.ts",
    find: "if (isUnset(a) && isUnset(b)) return true;",
    put: "",
    tests: "provider/core/values.test.ts",
  },
  {
    rule: "a replacement in another parent needs no deletion first",
    file: "provider/core/diff.ts",
    find: "naming !== undefined && !moved &&",
    put: "naming !== undefined &&",
    tests: "provider/core/diff.test.ts",
  },
  {
    rule: "a create that may have been taken is not repeated",
    file: "provider/api/retry.ts",
    find: 'if (repeatable !== "freely") return undefined;',
    put: "",
    tests: "provider/api/retry.test.ts",
  },
  {
    rule: "a limit of one value is no quota",
    file: "provider/api/conflict.ts",
    find: 'if (found === "quota" && ofOneValue.test(text)) return undefined;',
    put: "",
    tests: "provider/api/conflict.test.ts",
  },
  {
    rule: "a key of another organization changes nothing",
    file: "provider/core/organization.ts",
    find: "if (both.length === 0) return { foreign: seen };",
    put: "",
    tests: "provider/core/organization.test.ts",
  },
  {
    rule: "what is not listed is gone only when its owner is",
    file: "provider/core/collection.ts",
    find: 'if (owner === "gone") return "gone";',
    put: 'return "gone";',
    tests: "provider/core/collection.test.ts",
  },
  {
    rule: "siblings that wait share one beat",
    file: "provider/core/wait.ts",
    find: "beat - (now % beat)",
    put: "beat",
    tests: "provider/core/wait.test.ts",
  },
  {
    rule: "a lost call is tried six times at most",
    file: "provider/api/retry.ts",
    find: "tried.attempt < mostAttempts &&",
    put: "",
    tests: "provider/api/retry.test.ts",
  },
  // the adapters
  {
    rule: "a state of the plugin is updated before the dynamic provider relies on it",
    file: "provider/dynamic/host.ts",
    find: "changes: changes || olds[providerKey] === undefined,",
    put: "changes,",
    tests: "provider/dynamic/handler.test.ts",
  },
  {
    rule: "an import by a name that several have is refused",
    file: "plugin/import.ts",
    find: "if (found && others.length > 0) {",
    put: "if (!found && others.length > 0) {",
    tests: "plugin/import.test.ts",
  },
  {
    rule: "outputs are unknown in a preview of the plugin",
    file: "plugin/resource.ts",
    find: "...outputsWith(definition, () => unknown),",
    put: "",
    tests: "plugin/service.test.ts",
  },
  // network files
  {
    rule: "an entry with a former key keeps its resources",
    file: "sdk/network/plan.ts",
    find: "const keys = [key, ...formerly, ...otherKeys];",
    put: "const keys = [key];",
    tests: "sdk/network/names.test.ts",
  },
  {
    rule: "siblings in a network file have different names",
    file: "sdk/network/rules.ts",
    find: "else if (namesake !== undefined)",
    put: "else if (namesake === entry.key)",
    tests: "sdk/network/bad-entries.test.ts",
  },
  // policies
  {
    rule: "a limit itself is allowed, one more is not",
    file: "sdk/policy/rules/limits.ts",
    find: "if (found > max) {",
    put: "if (found > max + 1) {",
    tests: "policy/limits.test.ts",
  },
  {
    rule: "what exists outside the stack counts, where it is asked for",
    file: "sdk/policy/rules/limits.ts",
    find: "const found = mine.length + outside.length;",
    put: "const found = mine.length;",
    tests: "policy/live.test.ts",
  },
  // fleets
  {
    rule: "attributes of a state that are whole stay",
    file: "cli/fleet/leftovers.ts",
    find: "if (isTorn) rmSync",
    put: "rmSync",
    tests: "cli/fleet/torn-attributes.test.ts",
  },
  // the service
  {
    rule: "a web page of another origin is refused",
    file: "service/http/host-check.ts",
    find: "if (origin !== undefined && !isOwnOrigin",
    put: "if (origin === undefined && !isOwnOrigin",
    tests: "service/http/host-check.test.ts",
  },
  {
    rule: "the body of a call without a key is not read",
    file: "service/http/authentication.ts",
    find: "if (!request.organization && !request.fault) throw unauthorized(request);",
    put: "",
    tests: "service/http/authentication.test.ts",
  },
  {
    rule: "nothing is made in what is being deleted",
    file: "service/routes/crud.ts",
    find: 'if (parent.state === "deleting")',
    put: 'if (parent.state === "deleted")',
    tests: "service/store/states-over-time.test.ts",
  },
  {
    rule: "a node signs for its own account only",
    file: "service/ledger/screening.ts",
    find: '["personal_sign", ([, account]) => account],',
    put: "",
    tests: "service/ledger/node-calls.test.ts",
  },
];

/** Runs one test file. @param {string} copy @param {string} tests @param {AbortSignal} signal @returns {Promise<"passes" | "fails" | "does not load">} */
async function outcomeOf(copy, tests, signal) {
  const jest = join(root, "node_modules", "jest", "bin", "jest.js");
  const args = [jest, join("tests", tests), "--ci", "--maxWorkers", "1", "--json"];
  const { code, stdout } = await run(process.execPath, args, { cwd: copy, signal });
  if (code === 0) return "passes";
  const { numFailedTests } = JSON.parse(stdout.slice(stdout.indexOf("{")));
  return numFailedTests > 0 ? "fails" : "does not load";
}

/** Whether some test fails with it. @param {string} copy @param {Mutation} mutation @param {AbortSignal} signal */
async function isCaught(copy, { rule, file, find, put, tests }, signal) {
  const path = join(copy, file);
  const text = readFileSync(path, "utf8");
  const report = (/** @type {string} */ verdict, ok = false) => (
    log(`${ok ? "ok    " : "FAILED"} ${rule}: ${verdict}`),
    ok
  );
  if (text.split(find).length !== 2) return report(`${file} must contain this once: ${find}`);
  writeFileSync(
    path,
    text.replace(find, () => put),
  );
  try {
    const outcome = await outcomeOf(copy, tests, signal);
    return report(`broken in ${file}, tests/${tests} ${outcome}`, outcome === "fails");
  } finally {
    writeFileSync(path, text);
  }
}

await runMain("npm run mutations", () =>
  interruptible(async (signal) => {
    await installPackages();
    await build();
    const words = process.argv.slice(2).join(" ");
    const chosen = mutations.filter(({ rule }) => rule.includes(words));
    if (chosen.length === 0) throw new UserError(`There is no rule with "${words}".`);
    const copy = mkdtempSync(join(tmpdir(), "pulumi-consortium-mutations-"));
    try {
      const { stdout } = await run("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root });
      for (const file of [...stdout.trim().split("\n"), "dist"])
        cpSync(join(root, file), join(copy, file), { recursive: true, preserveTimestamps: true });
      symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
      for (const tests of new Set(chosen.map((one) => one.tests))) {
        const outcome = await outcomeOf(copy, tests, signal);
        if (outcome !== "passes") throw new UserError(`tests/${tests} ${outcome} with no rule broken.`);
      }
      let lost = 0;
      for (const mutation of chosen) if (!signal.aborted && !(await isCaught(copy, mutation, signal))) lost++;
      log(`${chosen.length - lost} of ${chosen.length} broken rules make a test fail.`);
      return lost > 0 ? 1 : 0;
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  }),
);
