import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { neutralEnv } from "../../../tools/lib/processes.mjs";
import { pages } from "../../docs/markdown";
import { until } from "../../support/until";

/** The newest SDK that was tried: pages have people install whatever is newest. */
const sdk = "3.276.0";

/** Somebody with an empty folder and a page of ours, who types what it says. */
export class Newcomer {
  readonly #blocks: { language: string; text: string }[];
  readonly #env: NodeJS.ProcessEnv;

  constructor(
    private readonly folder: string,
    page: string,
    env: NodeJS.ProcessEnv,
  ) {
    this.#blocks = pages.find(({ file }) => file === page)!.blocks;
    const quiet = { npm_config_audit: "false", npm_config_fund: "false", npm_config_update_notifier: "false" };
    this.#env = { ...neutralEnv(), ...quiet, npm_config_engine_strict: "true", ...env };
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), "{}");
  }

  /** The line of the page that looks like this. */
  #line(pattern: RegExp): string {
    const shell = this.#blocks.filter(({ language }) => language === "sh").map(({ text }) => text);
    const [found] = shell.flatMap((text) => text.split("\n").filter((line) => pattern.test(line)));
    if (found === undefined) throw new Error(`The page has no line like ${pattern}`);
    return found.replace(/ @pulumi\/pulumi(?= |$)/, `$&@${sdk}`).replace("--port 4290", "--port 0");
  }

  /** Writes a file that the page shows: the first block in the language, or a later one. */
  write(file: string, language: string, at = 0): void {
    const { text } = this.#blocks.filter((block) => block.language === language)[at]!;
    mkdirSync(dirname(join(this.folder, file)), { recursive: true });
    writeFileSync(join(this.folder, file), text);
  }

  /** Runs commands in one shell, and answers what they printed for programs. */
  async sh(script: string): Promise<string> {
    const options = { cwd: this.folder, env: this.#env, maxBuffer: 2 ** 24 };
    const { stdout } = await promisify(execFile)("bash", ["-e", "-c", script], options).catch(
      ({ message, stdout }: Error & { stdout: string }) => Promise.reject(new Error(`${message}\n${stdout}`)),
    );
    return stdout;
  }

  /** Runs lines of the page, and others, in one shell. */
  runs(...lines: (RegExp | string)[]): Promise<string> {
    return this.sh(lines.map((one) => (typeof one === "string" ? one : this.#line(one))).join("\n"));
  }

  /** Runs a line of the page until Ctrl+C, pressed after `then`, which gets what it printed up to "Ctrl+C stops it". */
  async starts(line: RegExp, then: (printed: string) => Promise<void>): Promise<void> {
    const child = spawn("bash", ["-c", this.#line(line)], { cwd: this.folder, env: this.#env, detached: true });
    const ended = once(child, "exit");
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (printed += String(part)));
    try {
      await until(() => printed.includes("Ctrl+C stops it") || child.exitCode !== null);
      await then(printed);
    } finally {
      if (child.exitCode === null) process.kill(-child.pid!, "SIGINT"); // a terminal sends it to all of them
      await ended;
    }
  }
}
