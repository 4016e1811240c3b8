import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { today } from "./zone.mjs";

/**
 * Puts the temporary folders of tests, and of everything that they start, into one folder, which is removed with the run. No test gets the
 * service and the key that a user has in the environment.
 */
export default function setup(): void {
  const folder = mkdtempSync(join(tmpdir(), "consortium-jest-"));
  chmodSync(folder, 0o711); // a database server runs as a user of its own
  for (const name of Object.keys(process.env)) if (name.startsWith("CONSORTIUM_")) delete process.env[name];
  process.env.TMPDIR = folder;
  process.env.GOGC ??= "400"; // of Pulumi, which ends soon: to collect its garbage takes a fifth of its time
  process.env.TEST_DAY ??= String(today());
  process.env.XDG_STATE_HOME = join(folder, "state");
  process.env.PULUMI_HOME = join(folder, "pulumi"); // each run of Pulumi adds a log there, and looks at all the others
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
}
