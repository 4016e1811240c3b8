import { type Command } from "commander";
import { createRequire } from "node:module";
import { join } from "node:path";
import { version } from "../../provider/version";

/** Packages that offer a command of this one. A user installs those that are wanted: none is a dependency. */
export type CommandPackage = "consortium-service" | "consortium-console" | "consortium-fleet";

/** Adds the arguments, options and action of a command. */
export interface Definition {
  define: (command: Command) => void;
}

const isMissing = (error: unknown, name: string) => {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return ["MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND"].includes(code) && message.includes(name);
};

/** The command that a package offers, beside this one or in the project of this folder. @throws Error that says what to install */
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
  throw new Error(
    `\`consortium ${verb}\` is in the package ${name}, which is not installed: npm install --save-dev ${name}@${version}`,
  );
}
