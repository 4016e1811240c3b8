import { Argument, type Command } from "@commander-js/extra-typings";

/** The names of the command. */
const names = ["consortium", "pulumi-consortium"];

export function define(command: Command): void {
  command
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(scripts)))
    .addHelpText(
      "after",
      "\nPrints a script that completes commands and options; file names are completed, too. For example:\n\n" +
        "  bash: consortium completion bash > ~/.local/share/bash-completion/completions/consortium\n" +
        "  zsh:  consortium completion zsh > ~/.zsh/completions/_consortium     # a folder of your fpath\n" +
        "  fish: consortium completion fish > ~/.config/fish/completions/consortium.fish",
    )
    .action((shell) => void process.stdout.write(scripts[shell as keyof typeof scripts](treeOf(command.parent!))));
}

interface Word {
  text: string;
  description: string;
}

/** What can follow a command, by the words that name it (`fleet up`): also the words that an argument may be. */
type Tree = Map<string, { commands: Word[]; options: Word[] }>;

/** The parts of a command that scripts are made of. */
interface AnyCommand {
  name(): string;
  description(): string;
  readonly commands: readonly AnyCommand[];
  readonly registeredArguments: readonly { argChoices?: string[] | undefined; description: string }[];
  readonly options: readonly { long?: string | undefined; description: string; hidden: boolean }[];
}

function treeOf(program: AnyCommand): Tree {
  const tree: Tree = new Map();
  const visit = (command: AnyCommand, path: string): void => {
    const options = command.options.flatMap(({ long, description, hidden }) =>
      long === undefined || hidden ? [] : [{ text: long, description }],
    );
    const choices = command.registeredArguments.flatMap(({ argChoices = [], description }) =>
      argChoices.map((text) => ({ text, description })),
    );
    tree.set(path, {
      commands: [...command.commands.map((one) => ({ text: one.name(), description: one.description() })), ...choices],
      options: [...options, { text: "--help", description: "show the help" }],
    });
    for (const inner of command.commands) visit(inner, path === "" ? inner.name() : `${path} ${inner.name()}`);
  };
  visit(program, "");
  return tree;
}

/** Within single quotes of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const wordsOf = (tree: Tree, path: string, kind: "commands" | "options"): string =>
  (tree.get(path)?.[kind] ?? []).map(({ text }) => text).join(" ");

/** bash: words of the command so far, then of its commands or options. */
const bash = (tree: Tree): string => `# Completes the commands and options of consortium.
_consortium() {
  local word path='' current="\${COMP_WORDS[COMP_CWORD]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${[...tree.keys()].filter(Boolean).map(quoted).join(" | ")}) path="\${path:+$path }$word" ;;
    esac
  done
  local words=''
  case "$path" in
${[...tree.keys()]
  .map((path) => {
    const options = quoted(wordsOf(tree, path, "options"));
    return `    ${quoted(path)}) case "$current" in -*) words=${options} ;; *) words=${quoted(wordsOf(tree, path, "commands"))} ;; esac ;;`;
  })
  .join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _consortium ${names.join(" ")}
`;

/** zsh, in its own terms: autoloaded by its name, the file is the function. Words with their descriptions. */
const zsh = (tree: Tree): string => `#compdef ${names.join(" ")}
# Completes the commands and options of consortium.
local word at=''
for word in "\${(@)words[2,CURRENT-1]}"; do
  case "\${at:+$at }$word" in
    ${[...tree.keys()].filter(Boolean).map(quoted).join(" | ")}) at="\${at:+$at }$word" ;;
  esac
done
local -a commands options
case "$at" in
${[...tree]
  .map(([path, { commands, options }]) => {
    const described = (all: Word[]): string =>
      all.map(({ text, description }) => quoted(`${text.replaceAll(":", "\\:")}:${description}`)).join(" ");
    return `  ${quoted(path)}) commands=(${described(commands)}); options=(${described(options)}) ;;`;
  })
  .join("\n")}
esac
if [[ $PREFIX == -* ]]; then
  _describe -o option options
elif (( $#commands )); then
  _describe command commands
else
  _files
fi
`;

function fish(tree: Tree): string {
  const lines = [...tree].flatMap(([path, { commands, options }]) => {
    const words = path.split(" ").filter(Boolean);
    const others = commands.map(({ text }) => text).join(" ");
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`);
    const unseen = others === "" ? [] : [`not __fish_seen_subcommand_from ${others}`];
    const when = quoted([...seen, ...unseen].join("; and "));
    return names.flatMap((name) => [
      ...(others === "" ? [] : [`complete -c ${name} -n ${when} -f`]), // no file names
      ...commands.map((one) => `complete -c ${name} -n ${when} -a ${one.text} -d ${quoted(one.description)}`),
      ...options.map((one) => `complete -c ${name} -n ${when} -l ${one.text.slice(2)} -d ${quoted(one.description)}`),
    ]);
  });
  return `# Completes the commands and options of consortium.\n${lines.join("\n")}\n`;
}

const scripts = { bash, zsh, fish };
