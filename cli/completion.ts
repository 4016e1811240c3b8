import { Argument, type Command, type Option } from "commander";

/** A command with its place, such as `fleet up`, as a shell has to know it. */
interface Place {
  path: string[];
  /** What may stand there: commands, or what an argument may be. */
  words: string[];
  options: Option[];
}

export function define(command: Command): void {
  command
    .addArgument(new Argument("<shell>", "whose completion").choices(Object.keys(scripts)))
    .addHelpText("after", "\nPrints a script: docs/operations.md says where each shell wants it.")
    .action((shell: keyof typeof scripts) => {
      console.log(scripts[shell](placesOf(command.parent!)).join("\n"));
    });
}

function placesOf(command: Command, path: string[] = []): Place[] {
  const { commands, registeredArguments } = command;
  const words = [
    ...commands.map((one) => one.name()),
    ...registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  ];
  const here = { path, words, options: [...command.createHelp().visibleOptions(command)] };
  return [here, ...commands.flatMap((one) => placesOf(one, [...path, one.name()]))];
}

/** As the scripts write down where they are: ` fleet up`. */
const placeOf = (path: string[]): string => path.map((word) => ` ${word}`).join("");
const below = (places: Place[]): string[] => places.map(({ path }) => placeOf(path)).filter((place) => place !== "");

/** Commands, after a dash options, after an option its choices, and else files: those are what `complete` offers by itself. */
const bash = (places: Place[]): string[] => [
  "# completion of consortium",
  "_consortium() {",
  '  local word place="" known="" current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"',
  '  for word in "${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do',
  `    case "$place $word" in ${below(places)
    .map((place) => `"${place}"`)
    .join("|")}) place="$place $word" ;; esac`,
  "  done",
  '  case "$place $previous" in',
  ...places.flatMap(({ path, options }) =>
    options
      .filter(({ argChoices }) => argChoices)
      .map(({ long, argChoices }) => `    "${placeOf(path)} ${long}") known="${argChoices!.join(" ")}" ;;`),
  ),
  '    *) case "$place:$current" in',
  ...places.flatMap(({ path, words, options }) => [
    `      "${placeOf(path)}:-"*) known="${options.map(({ long }) => long).join(" ")}" ;;`,
    ...(words.length > 0 ? [`      "${placeOf(path)}:"*) known="${words.join(" ")}" ;;`] : []),
  ]),
  "    esac ;;",
  "  esac",
  '  COMPREPLY=($(compgen -W "$known" -- "$current"))',
  "}",
  "complete -o bashdefault -o default -F _consortium consortium",
];

const zsh = (places: Place[]): string[] => [
  "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }",
  "autoload -Uz +X bashcompinit && bashcompinit",
  ...bash(places),
];

const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, "\\$&")}'`;

const fish = (places: Place[]): string[] => [
  "# completion of consortium",
  "function __consortium_is_at",
  "  set -l place",
  "  for word in (commandline -opc)[2..-1]",
  `    contains -- "$place $word" ${below(places).map(quoted).join(" ")}; and set place "$place $word"`,
  "  end",
  '  test "$place" = "$argv"',
  "end",
  ...places.flatMap(({ path, words, options }) => {
    const here = `complete -c consortium -n ${quoted(`__consortium_is_at ${quoted(placeOf(path))}`)}`;
    return [
      ...(words.length > 0 ? [`${here} -f -a ${quoted(words.join(" "))}`] : []),
      ...options.map((option) => {
        const { long, short, argChoices, description } = option;
        const value = argChoices
          ? ` -x -a ${quoted(argChoices.join(" "))}`
          : option.required || option.optional
            ? " -r"
            : "";
        return `${here} -l ${long!.slice(2)}${short ? ` -s ${short.slice(1)}` : ""}${value} -d ${quoted(description)}`;
      }),
    ];
  }),
];

const scripts = { bash, zsh, fish };
