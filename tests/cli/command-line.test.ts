import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as own from "../../cli/shared/terminal";
import * as ofService from "../../service/command/options";
import { temporary, writeIn } from "../fleet/made";
import { built, consortium as started } from "../service/child";
import { consortium } from "./command";

/** How every command handles help, versions and mistakes in its arguments. */

const manifest = join(__dirname, "../../package.json");
const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };

/** command → the rest of its usage, and the error without arguments; undefined if it needs none */
const commands: [string, string, string | undefined][] = [
  ["", "[options] [command]", undefined],
  ["serve", "[options]", undefined],
  ["export", "[options]", undefined],
  ["sweep", "[options]", "error: specify what to delete: either --prefix and --older-than, or --id"],
  ["fleet", "[options] [command]", undefined],
  ["fleet up", "[options] <file>", "error: missing required argument 'file'"],
  ["fleet preview", "[options] <file>", "error: missing required argument 'file'"],
  ["fleet destroy", "[options] <file>", "error: missing required argument 'file'"],
  ["fleet drift", "[options] <file>", "error: missing required argument 'file'"],
  ["fleet plan", "[options] <file>", "error: missing required argument 'file'"],
  ["fleet merge", "[options] <files...>", "error: missing required argument 'files'"],
  ["fleet manifests", "[options] <file>", "error: missing required argument 'file'"],
  ["fleet status", "[options] [files...]", undefined],
  ["fleet resume", "[options] [files...]", undefined],
  ["check", "[options]", undefined],
  ["console", "[options]", undefined],
  ["map", "[options] [file]", undefined],
  ["plugin", "[options] [command]", undefined],
  ["plugin install", "[options]", undefined],
  ["plugin path", "[options]", undefined],
  ["completion", "[options] <shell>", "error: missing required argument 'shell'"],
  ["doctor", "[options] [fleet file]", undefined],
  ["probe", "[options]", undefined],
  ["report", "[options] [files...]", undefined],
  ["fund", "[options] <tetherId>", "error: missing required argument 'tetherId'"],
  ["accept", "[options] [invitation]", undefined],
];
/** Missing arguments are reported first. */
const required: Record<string, string[]> = { sweep: ["--prefix", "p", "--older-than", "1h"] };
/** For `check`, 1 means that the network has a problem. */
const refusedWith: Record<string, number> = { check: 2 };
const invalidFile = "[invalid-file: docs/troubleshooting.md#invalid-file]";
const words = (command: string): string[] => command.split(" ").filter((word) => word !== "");

test.each(commands)("consortium %s: help, version, unknown option, no argument", async (command, usage, missing) => {
  const path = words(command);
  const name = ["consortium", ...path].join(" ");
  const see = `(see ${name} --help)`;
  const [help, shown, unknown, bare] = await Promise.all([
    consortium([...path, "--help"]),
    consortium([...path, "--version"]),
    consortium([...path, ...(required[command] ?? []), "--no-such-option"]),
    missing === undefined ? undefined : consortium(path),
  ]);
  expect(help).toMatchObject({ code: 0, stderr: "" });
  expect(help.stdout.split("\n")[0]).toBe(`Usage: ${name} ${usage}`);
  expect(help.stdout).not.toMatch(/undefined|\[object|default: \[\]/);
  expect(help.stdout).not.toContain("\u001b");
  expect(shown).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  expect(unknown).toEqual({
    code: refusedWith[command] ?? 1,
    stdout: "",
    stderr: `error: unknown option '--no-such-option'\n${see}\n`,
  });
  if (missing !== undefined) expect(bare).toEqual({ code: 1, stdout: "", stderr: `${missing}\n${see}\n` });
});

test.each([
  [["--version"], { code: 0, stdout: `${version}\n`, stderr: "" }],
  [
    ["report", "none.json"],
    { code: 1, stdout: "", stderr: `consortium: none.json cannot be read: there is no such file. ${invalidFile}\n` },
  ],
  [
    ["check", "--outputs", "none.json", "--json"],
    {
      code: 2,
      stdout: `${own.jsonText({ error: { code: "invalid-file", message: "none.json cannot be read: there is no such file." } })}\n`,
      stderr: `consortium: none.json cannot be read: there is no such file. ${invalidFile}\n`,
    },
  ],
  [["serve", "--no"], { code: 1, stdout: "", stderr: "error: unknown option '--no'\n(see consortium serve --help)\n" }],
])(
  "the process of consortium %j ends as the command does in this one",
  async (args, ended) => {
    built();
    expect(await started(args)).toEqual(ended);
    expect(await consortium(args)).toEqual(ended);
  },
  120_000,
);

test("the table has every command", async () => {
  const listed = async (...path: string[]) => {
    const { stdout } = await consortium([...path, "--help"]);
    const after = stdout.slice(stdout.indexOf("display help for command"));
    const inner = [...after.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name!);
    return inner.filter((name) => name !== "help").map((name) => [...path, name].join(" "));
  };
  const all = [...(await listed()), ...(await listed("fleet")), ...(await listed("plugin"))];
  expect(all.sort()).toEqual(
    commands
      .map(([name]) => name)
      .filter(Boolean)
      .sort(),
  );
});

test.each<[string, string[], string]>([
  ["an unknown command", ["swep"], "error: unknown command 'swep'\n(Did you mean sweep?)\n(see consortium --help)\n"],
  [
    "a file that is no state of a stack",
    ["console", "--stack-export", manifest],
    `consortium: ${manifest} is not the state of a stack. Create it with: pulumi stack export --stack STACK ${invalidFile}\n`,
  ],
  [
    "a folder in its place",
    ["report", __dirname],
    `consortium: ${__dirname} cannot be read: it is a folder. ${invalidFile}\n`,
  ],
  [
    "a certificate that is not there",
    ["serve", "--tls-cert", "none.pem", "--tls-key", "k"],
    "consortium: none.pem cannot be read: there is no such file. [invalid-setting: docs/troubleshooting.md#invalid-setting]\n",
  ],
  [
    "a file with a key that is not there",
    ["fund", "t", "--url", "http://127.0.0.1:1", "--api-key-file", "none"],
    `consortium: none cannot be read: there is no such file. ${invalidFile}\n`,
  ],
])("%s", async (_, args, stderr) => {
  expect(await consortium(args)).toEqual({ code: 1, stdout: "", stderr });
});

const filters = "error: --consortium and --tether work only for a map of the service";
test.each([
  [["network.yaml", "--consortium", "trade"], filters],
  [["--stack", "dev", "--tether", "tether0001"], filters],
  [["--plan", "plan.json", "--consortium", "trade"], filters],
  [["--plan", "a.json", "--stack", "dev"], "cannot be used with"],
  [["network.yaml", "--stack", "dev"], "a network file cannot be used with --stack or --plan"],
  [["--live"], "error: "],
])("map %j is refused: %s", async (args, why) => {
  expect(await consortium(["map", ...args])).toMatchObject({ code: 1, stderr: expect.stringContaining(why) as string });
});

test("a failed write is a one-line error; a reader that stops early is not an error", () => {
  const file = writeIn(temporary(), "network.yaml", "members: [a]\n");
  const program = `"${process.execPath}" "${join(__dirname, "../../dist/cli/consortium.js")}" map "${file}"`;
  const shell = (line: string) => spawnSync("sh", ["-c", line], { encoding: "utf8" });
  expect(shell(`${program} > /dev/full`)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^consortium: could not write the output: [^\n]*ENOSPC[^\n]*\n$/) as string,
  });
  expect(shell(`${program} | true`)).toMatchObject({ status: 0, stderr: "" });
});

test("report waits for a slow pipe, such as the output of `pulumi preview --json`", () => {
  const report = `"${process.execPath}" "${join(__dirname, "../../dist/cli/consortium.js")}" report`;
  const late = `(sleep 1; echo '{"sequence":0,"summaryEvent":{"resourceChanges":{"same":0}}}') | ${report}`;
  expect(execFileSync("sh", ["-c", late], { encoding: "utf8" })).toContain("Nothing to do: 0 unchanged.");
});

describe.each([
  ["the command", own.wholeNumber],
  ["serve", ofService.wholeNumber],
])("whole numbers in options of %s", (_whose, wholeNumber) => {
  test.each([
    [1, undefined, "1"],
    [1, undefined, " 70000 "],
    [0, 64, "0"],
    [1, 64, "64"],
  ])("from %d to %d: %j is one", (least, most, text) => expect(wholeNumber(least, most)(text)).toBe(Number(text)));

  test.each([
    [1, undefined, "0", "of at least 1"],
    [0, undefined, "", "of at least 0"],
    [0, undefined, " ", "of at least 0"],
    [1, undefined, "1.5", "of at least 1"],
    [1, 64, "65", "from 1 to 64"],
    [1, 64, "many", "from 1 to 64"],
  ])("from %d to %d: %j is none", (least, most, text, range) =>
    expect(() => wholeNumber(least, most)(text)).toThrow(`It must be a whole number ${range}.`),
  );
});
