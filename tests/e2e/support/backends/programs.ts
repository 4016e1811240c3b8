import { type ChildProcess, execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { isExecutable, onPath } from "../../../../tools/lib/processes.mjs";

const execute = promisify(execFile);

/** A server that a test started. */
export interface Backend {
  /** What PULUMI_BACKEND_URL is set to. */
  url: string;
  env: Record<string, string>;
  stop: () => Promise<void>;
}

/** A program on PATH or in other folders; where it is not there, its Debian packages are installed, if we may. */
export async function programOf(name: string, debianPackages: string, folders = (): string[] => []): Promise<string> {
  const found = (): string | undefined =>
    [...onPath(name), ...folders().map((folder) => join(folder, name))].find(isExecutable);
  const there = found();
  if (there !== undefined) return there;
  await installDebian(debianPackages, name);
  const installed = found();
  if (installed === undefined) throw new Error(`The package ${debianPackages} is installed, but has no ${name}.`);
  return installed;
}

/** Says what to do by hand where it cannot be done here. */
export async function installDebian(debianPackages: string, what: string): Promise<void> {
  const remedy = `Install the package that holds it (on Debian and Ubuntu: apt-get install ${debianPackages}).`;
  if (process.getuid?.() !== 0 || onPath("apt-get").length === 0) {
    throw new Error(`The tests need ${what}, and only root can install it, with apt-get. ${remedy}`);
  }
  const options = { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }, maxBuffer: 2 ** 26 };
  try {
    await execute("apt-get", ["update", "-qq"], options);
    const install = ["install", "-y", "-qq", "-o", "DPkg::Lock::Timeout=300", "--no-install-recommends"];
    await execute("apt-get", [...install, ...debianPackages.split(" ")], options);
  } catch (error) {
    throw new Error(`apt-get could not install ${debianPackages}: ${(error as Error).message} ${remedy}`, {
      cause: error,
    });
  }
}

/** Until a server says that it is ready; what it said is in the error. */
export function ready(server: ChildProcess, what: string, sign: RegExp): Promise<RegExpExecArray> {
  let text = "";
  return new Promise((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      text += String(chunk);
      const match = sign.exec(text);
      if (match) resolve(match);
    };
    server.stdout?.on("data", hear);
    server.stderr?.on("data", hear);
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`${what} ended with ${code} before it was ready:\n${text}`)));
  });
}

export function ended(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (server.exitCode !== null || server.signalCode !== null) return resolve();
    server.once("exit", () => resolve());
    server.kill(signal);
  });
}
