import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { consortium } from "../../cli/command";
import { temporary, writeIn } from "../../fleet/made";
import { programOf } from "../support/backends/programs";

/* The scripts of `consortium completion` in shells that are not on every machine: a row each for commands, options, subcommands, files. */

const execute = promisify(execFile);
const script = async (shell: string): Promise<string> => (await consortium(["completion", shell])).stdout;

/** An interactive zsh, which lists what it would complete, and ends. */
const listing = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'fpath=(functions $fpath); autoload -Uz compinit; compinit -D -u'
zpty -w shell 'compadd() { local -a found; builtin compadd -O found "$@"; print -lr -- $found >> found; builtin compadd "$@" }'
zpty -w shell 'list() { zle list-choices; exit }; zle -N list; bindkey "^X" list'
zpty -n -w shell "$1"$'\\x18'
while zpty -r shell text; do :; done
`;

const completed = {
  zsh: async (line: string): Promise<string[]> => {
    const zsh = await programOf("zsh", "zsh");
    const cwd = temporary();
    writeIn(cwd, "functions/_consortium", await script("zsh"));
    writeIn(cwd, "network.yaml", "");
    writeIn(cwd, "list.zsh", listing);
    await execute(zsh, ["-f", "list.zsh", line], { cwd });
    return readFileSync(join(cwd, "found"), "utf8").split("\n").filter(Boolean);
  },
  fish: async (line: string): Promise<string[]> => {
    const fish = await programOf("fish", "fish");
    const cwd = temporary();
    writeIn(cwd, "consortium.fish", await script("fish"));
    writeIn(cwd, "network.yaml", "");
    const list = ["--no-config", "-c", 'source consortium.fish; complete -C "$argv"', line];
    const { stdout } = await execute(fish, list, { cwd });
    return stdout.split("\n").map((one) => one.split("\t")[0]!);
  },
};

const rows: [line: string, some: string[], none: string[]][] = [
  ["consortium ", ["check", "doctor", "map", "completion"], ["--version", "up", "network.yaml"]],
  ["consortium check --stack dev --j", ["--json", "--junit"], ["--stack"]],
  ["consortium fleet u", ["up"], ["check"]],
  ["consortium map net", ["network.yaml"], ["check"]],
];

describe.each(["zsh", "fish"] as const)("%s", (shell) => {
  test.each(rows)("completes %j", async (line, some, none) => {
    const found = await completed[shell](line);
    expect(found).toEqual(expect.arrayContaining(some));
    expect(found.filter((one) => none.includes(one))).toEqual([]);
  });
});
