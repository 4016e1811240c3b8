import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { contractsOf } from "../../tools/lib/contracts.mjs";
import { temporary, writeIn } from "../fleet/made";

const tests = ["tests/e2e/one.test.ts", "tests/e2e/other.test.ts"] as const;

/** A repository with two contracts; the first one starts a program, and reads a folder. */
function repository() {
  const folder = temporary();
  process.env.PULUMI_CONSORTIUM_CACHE = join(folder, "cache");
  const write = (file: string, text: string) => writeIn(folder, file, text);
  execFileSync("git", ["init", "--quiet", folder]);
  write("tests/tsconfig.json", "{}");
  write(tests[0], 'import "../support/near"; import "a-package";');
  write(tests[1], "");
  write("tests/support/near.ts", 'void import("../../provider/far");');
  write("provider/far.ts", "");
  write("cli/main.ts", 'import "./command";');
  write("cli/command.ts", "");
  write("examples/deep/network.yaml", "");
  const of = { [tests[0]]: { starts: ["cli/main.ts"], reads: ["examples"] }, [tests[1]]: { reads: [] } };
  const contracts = contractsOf(of, folder);
  const result = (at: number, status = "passed", ...more: string[]) => ({
    name: join(folder, tests[at]!),
    status,
    assertionResults: [status, ...more].map((one) => ({ status: one })),
  });
  return { write, contracts, result, unchanged: async () => (await contracts.look()).unchanged };
}
afterEach(() => delete process.env.PULUMI_CONSORTIUM_CACHE);

test.each([
  ["what it imports", "tests/support/near.ts"],
  ["what that imports when it is needed", "provider/far.ts"],
  ["what the program imports that it starts", "cli/command.ts"],
  ["a file that it reads", "examples/deep/network.yaml"],
  ["a new file that it reads", "examples/new.yaml"],
  ["the packages", "package-lock.json"],
])("a contract that was green runs again after a change of %s", async (_, file) => {
  const { write, contracts, result, unchanged } = repository();
  expect(await unchanged()).toEqual([]);
  await contracts.note((await contracts.look()).digests, { testResults: [result(0), result(1)] });
  write("docs/unrelated.md", "new");
  expect(await unchanged()).toEqual(tests);
  write(file, "// a line more");
  expect(await unchanged()).toEqual(file === "package-lock.json" ? [] : [tests[1]]);
});

test("nothing counts as green but a whole file, with one content from its beginning to its end", async () => {
  const { write, contracts, result, unchanged } = repository();
  const { digests } = await contracts.look();
  for (const one of [result(0, "failed"), result(0, "passed", "pending"), { ...result(0), assertionResults: [] }]) {
    await contracts.note(digests, { testResults: [one, result(1)] });
    expect(await unchanged()).toEqual([tests[1]]);
  }
  await contracts.note(digests, { testResults: [result(0)] });
  expect(await unchanged()).toEqual(tests); // the other one was left out
  await contracts.note(digests, { testResults: [result(0, "failed")] });
  expect(await unchanged()).toEqual([tests[1]]);
  write("provider/far.ts", "// while it ran");
  await contracts.note(digests, { testResults: [result(0)] });
  expect(await unchanged()).toEqual([tests[1]]);
});
