import { execFileSync } from "node:child_process";
import { consortium } from "./command";

/* The scripts of `consortium completion`, as bash uses them; zsh and fish: tests/e2e/install/completion.test.ts. */

const script = async (): Promise<string> => {
  const { code, stdout, stderr } = await consortium(["completion", "bash"]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
};

test.each<[line: string, some: string[], none: string[]]>([
  ["consortium ", ["check", "doctor", "map", "completion"], ["--version", "up"]],
  ["consortium --v", ["--version"], ["check"]],
  ["consortium che", ["check"], ["map"]],
  ["consortium check --", ["--stack", "--json", "--watch", "--help"], ["--format"]],
  ["consortium check --stack dev --j", ["--json", "--junit"], ["--stack"]],
  ["consortium plugin ", ["install", "path"], ["check"]],
  ["consortium fleet u", ["up"], ["check"]],
  ["consortium completion ", ["bash", "zsh", "fish"], ["check"]],
  ["consortium map net", [], ["check"]],
])("bash completes %j", async (line, some, none) => {
  const words = line.split(" ");
  const use = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _consortium; echo "\${COMPREPLY[@]}"`;
  const found = execFileSync("bash", ["-c", `${await script()}\n${use}`], { encoding: "utf8" })
    .trim()
    .split(" ");
  expect(found).toEqual(expect.arrayContaining(some));
  expect(found.filter((one) => none.includes(one))).toEqual([]);
});

test("another shell is refused; the scripts list the supported ones", async () => {
  const { code, stderr } = await consortium(["completion", "tcsh"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("Allowed choices are bash, zsh, fish")]);
});
