import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const companions = ["pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs", "pulumi-analyzer-policy"];

/** A machine of a test's own: its PATH has only what the test puts there. */
export class Sandbox {
  readonly folder = mkdtempSync(join(tmpdir(), "tools-test-"));
  readonly cache = join(this.folder, "cache");
  readonly said: string[] = [];
  readonly env: Record<string, string> = {
    PATH: join(this.folder, "bin"),
    PULUMI_CONSORTIUM_CACHE: this.cache,
    HOME: this.folder,
  };

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  /** An executable shell script. */
  script(file: string, ...lines: string[]): string {
    mkdirSync(dirname(this.path(file)), { recursive: true });
    writeFileSync(this.path(file), ["#!/bin/sh", ...lines, ""].join("\n"));
    chmodSync(this.path(file), 0o755);
    return this.path(file);
  }

  /** A Pulumi with all that belongs to it. Each call is noted in calls.txt. */
  pulumi(folder: string, version = "v3.276.0", hosts: string[] = []): string {
    for (const name of [...companions, ...hosts]) this.script(join(folder, name), "exit 0");
    return this.script(join(folder, "pulumi"), `echo "pulumi $*" >> ${this.path("calls.txt")}`, `echo ${version}`);
  }

  /** A Go whose builds are small scripts; `build` comes first in each of them. */
  go({ version = "1.27.0", build = "" } = {}): string {
    const told = Object.entries({
      env: `go${version}`,
      version: `go version go${version} os/arch`,
      list: this.path("sdk"),
    });
    const answers = told.map(([verb, text]) => `if [ "$1" = ${verb} ]; then echo ${text}; exit 0; fi`);
    const output = 'while [ "$1" != -o ]; do shift; done; bin="$2"; shift 2';
    const write = `for source; do printf '#!/bin/sh\\necho v3.276.0\\n' > "$bin\${source##*/}"; /bin/chmod +x "$bin"*; done`;
    return this.script("bin/go", `echo "go $*" >> ${this.path("calls.txt")}`, ...[...answers, build, output, write]);
  }

  /** The calls of the fake programs, only their first words. */
  calls(): string[] {
    if (!existsSync(this.path("calls.txt"))) return [];
    const lines = readFileSync(this.path("calls.txt"), "utf8").trim().split("\n");
    return lines.map((line) => line.split(" ").slice(0, 2).join(" "));
  }

  /** The files that are left in the cache folder. */
  cached(): string[] {
    return existsSync(this.cache) ? readdirSync(this.cache).sort() : [];
  }
}
