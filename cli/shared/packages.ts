import { createRequire } from "node:module";
import { join } from "node:path";
import { type Command } from "@commander-js/extra-typings";
import { UserError } from "../../provider/errors";
import { installing } from "../../provider/version";

/** Packages that provide a subcommand. Users install the ones they want; they are not dependencies. */
export type CommandPackage = "consortium-service" | "consortium-console" | "consortium-fleet";

/** Adds the arguments, options and action of a command. */
export interface Definition {
  define: (command: Command) => void;
}

const isMissing = (error: unknown, name: string) => {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return ["MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND"].includes(code) && message.includes(name);
};

/** The command of a package that is installed beside this one or in the project of this folder. @throws Error that says what to install */
export async function commandOf(name: CommandPackage, verb: string): Promise<Definition> {
  const entry = `${name}/command`;
  const inProject = createRequire(join(process.cwd(), "package.json"));
  for (const load of [() => import(entry) as Promise<unknown>, () => inProject(entry) as unknown]) {
    try {
      return (await load()) as Definition;
    } catch (error) {
      if (!isMissing(error, name)) throw error;
    }
  }
  throw new UserError(
    "not-installed",
    `\`consortium ${verb}\` is in the package ${name}, which is not installed: ${installing(name)}`,
  );
}
