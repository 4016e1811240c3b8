import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Command } from "@commander-js/extra-typings";
import { version } from "../provider/version";
import { UserError } from "../provider/errors";
import { pulumiOutput } from "./shared/connection";
import { print } from "./shared/terminal";

/** The plugin's executables, of which Windows starts the .cmd, and what they run. */
const files = ["pulumi-resource-consortium", "pulumi-resource-consortium.cmd", "dist/main.cjs"];

export function define(program: Command): void {
  program
    .command("install")
    .description("install the provider plugin for the Pulumi CLI of this machine")
    .addHelpText(
      "after",
      "\nInstalls the plugin in this package, which has the same version, for all projects of this user. Downloads\n" +
        "nothing. Needs the Pulumi CLI on the PATH. Programs in YAML, Python, Go, .NET and Java use the plugin, and\n" +
        "TypeScript programs where consortium:plugin is true. See docs/plugin.md.",
    )
    .action(install);
  program
    .command("path")
    .description("print the folder of the provider plugin")
    .addHelpText(
      "after",
      "\nFor plugins.providers[].path in Pulumi.yaml. A project that has it needs no installed plugin.",
    )
    .action(() => print(folder()));
}

/** The folder of the plugin in this package. */
function folder(): string {
  const found = join(dirname(createRequire(__filename).resolve("pulumi-consortium/package.json")), "plugin");
  if (files.every((file) => existsSync(join(found, file)))) return found;
  throw new UserError(
    "not-installed",
    `There is no plugin in ${found}. In a clone of the repository, build it with \`node tools/plugin.mjs\`.`,
  );
}

async function install(): Promise<void> {
  const args = ["plugin", "install", "resource", "consortium", `v${version}`, "--file", folder(), "--reinstall"];
  await pulumiOutput(args, "pulumi plugin install failed");
  print(
    `Installed the provider plugin consortium v${version} for this user's Pulumi CLI. Programs in YAML, Python, Go, .NET and Java\n` +
      "find it. For a TypeScript program, set this in the stack:\n\n" +
      "  pulumi config set consortium:plugin true",
  );
}
