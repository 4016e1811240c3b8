import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { withLock } from "../../../tools/lib/cache.mjs";
import { cacheRoot } from "../../../tools/lib/pulumi-cli.mjs";
import { installDebian, programOf } from "./backends/programs";

const execute = promisify(execFile);

/** Programs of Python, in the user's cache, once for each version of the requirements. Answers the folder that holds them. */
export async function installFromPyPI(name: string, requirements: string): Promise<string> {
  const hash = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  const home = join(cacheRoot(), `${name}-${hash}`);
  const whole = join(home, "installed");
  await withLock(`${home}.lock`, async () => {
    if (existsSync(whole)) return;
    const python = await programOf("python3", "python3");
    const venv = (): Promise<unknown> => execute(python, ["-m", "venv", "--clear", home]);
    await venv().catch(async () => {
      await installDebian("python3-venv", "Python's venv module");
      await venv();
    });
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", requirements];
    await execute(join(home, "bin", "python"), pip, { maxBuffer: 2 ** 26 });
    writeFileSync(whole, "");
  });
  return join(home, "bin");
}
