import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { withLock } from "../../../tools/lib/cache.mjs";
import { npmPackages } from "../../../tools/lib/prepare.mjs";
import { type Span } from "../../support/receiver";

const execute = promisify(execFile);
const { devDependencies, exports } = jest.requireActual<{
  devDependencies: Record<string, string>;
  exports: Record<string, unknown>;
}>("../../../package.json");

/** A package that this one is developed with, at that version. */
export const pinned = (name: string): string => `${name}@${devDependencies[name]}`;

export interface Packed {
  /** The archive of this package. */
  tarball: string;
  /** Paths of the files in it. */
  files: string[];
  /** The archives of all packages of this repository, by name. */
  archives: Record<string, string>;
}

/** The packages of this repository as npm packs them: once for all test files of a run, which share a temporary folder. */
export async function packed(): Promise<Packed> {
  const folder = join(tmpdir(), "consortium-packed");
  const report = join(folder, "report.json");
  await withLock(`${folder}.lock`, async () => {
    if (existsSync(report)) return;
    await mkdir(folder, { recursive: true });
    await writeFile(`${report}.draft`, JSON.stringify(await npmPackages(folder)));
    await rename(`${report}.draft`, report);
  });
  const all = JSON.parse(readFileSync(report, "utf8")) as Awaited<ReturnType<typeof npmPackages>>;
  const [{ archive: tarball, files }] = all as [(typeof all)[number]];
  return { tarball, files, archives: Object.fromEntries(all.map(({ name, archive }) => [name, archive])) };
}

const flags = ["--no-audit", "--no-fund", "--prefer-offline"];

/** Installs what a project's package.json and the arguments name, into a folder that has no packages yet. */
export async function npmInstall(project: string, ...args: string[]): Promise<void> {
  await execute("npm", ["install", ...flags, ...args], { cwd: project });
}

/** Loads the installed package by each of its doors (that of the service if its package is installed), and answers the versions of Pulumi's SDK that came with it. */
export async function loadAll(project: string): Promise<string[]> {
  const hasService = existsSync(join(project, "node_modules", "consortium-service"));
  const doors = Object.keys(exports).filter((door) => !door.endsWith(".json") && (door !== "./service" || hasService));
  const loading = `for (const door of ${JSON.stringify(doors)}) require("pulumi-consortium" + door.slice(1));`;
  await execute(process.execPath, ["-e", loading], { cwd: project });
  const { stdout } = await execute("find", [".", "-path", "*/node_modules/@pulumi/pulumi/package.json"], {
    cwd: project,
  });
  const files = stdout.trim().split("\n");
  const versions = files.map((file) => JSON.parse(readFileSync(join(project, file), "utf8")) as { version: string });
  return [...new Set(versions.map(({ version }) => version))];
}

/** Spans of a life, with the OpenTelemetry that the SDK of this project brings. @param major its version */
export function expectSpans(all: Span[], project: string, major: string): void {
  const file = join(project, "node_modules/@opentelemetry/sdk-trace-base/package.json");
  expect((JSON.parse(readFileSync(file, "utf8")) as { version: string }).version.split(".")[0]).toBe(major);
  const { traceId, spanId } = all.find(({ name }) => name === "create Node")!;
  const below = all.filter((span) => span.traceId === traceId && span.parentSpanId === spanId);
  expect(below.map(({ name }) => name)).toContain("wait");
}
