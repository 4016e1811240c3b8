import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Puts the temporary folders of tests, and of everything that they start, into one folder, which is removed with the run. */
export default function setup(): void {
  const folder = mkdtempSync(join(tmpdir(), "consortium-jest-"));
  chmodSync(folder, 0o711); // a database server runs as a user of its own
  process.env.TMPDIR = folder;
  process.env.XDG_STATE_HOME = join(folder, "state");
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
}
