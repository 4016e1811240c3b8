import { type PulumiCli, pulumiCli } from "../../../tools/lib/pulumi-cli.mjs";

export type Language = "yaml" | "python" | "go";

/** What a program in another language needs around it. */
export interface Project {
  cli: PulumiCli;
  /** The file of the program. */
  main: string;
  files: Record<string, string>;
  /** With the language's packages, and without a way to the network. */
  env: Record<string, string>;
}

let found: Promise<PulumiCli> | undefined;
/** The real CLI with the hosts of all languages. */
export const cliWithLanguages = (): Promise<PulumiCli> => (found ??= pulumiCli({ languages: true }));

export async function projectIn(language: Language, options: { schema?: string | undefined }): Promise<Project> {
  const cli = await cliWithLanguages();
  const files = { "Pulumi.yaml": `name: e2e\nruntime: ${language}\n` };
  return { cli, files, main: "Main.yaml", env: {} };
}
