import { spawn } from "node:child_process";
import { constants } from "node:os";

/**
 * Runs a command, prints its process id, and exits with its status. A second shell waits at the pipe from the service: when the pipe
 * closes, it kills the process, however the service ended, and even if the first shell was killed. Acknowledged changes of a chain are
 * on disk.
 */
const watcher = `exec 3<&0
"$@" >/dev/null 3<&- &
pid=$!
echo $pid
exec 2>/dev/null
{ read -r line <&3; kill -9 $pid; } >&2 &
guard=$!
wait $pid
status=$?
kill $guard
wait $guard
exit $status`;

const most = 2_000;

/** Where a shell reports a signal. */
const nameOf = (status: number | null) =>
  Object.entries(constants.signals).find(([, number]) => number + 128 === status)?.[0] ?? status;

const sh = (script: string, args: readonly string[], cwd: string, env = {}) =>
  spawn("/bin/sh", ["-c", script, ...args], {
    cwd,
    env, // the service's environment may contain keys and passwords
    stdio: ["pipe", "pipe", "pipe"],
    detached: true, // a separate process group, so that Ctrl+C at the terminal reaches only the service
  });

/** A child process that ends with this one, however this one ends. */
export interface Watched {
  /** Why it ended, with its last error output. */
  readonly ended: Promise<string>;
  readonly end: () => void;
}

export function watched(command: string, args: readonly string[], cwd: string): Watched {
  // jemalloc returns memory at once, for example after a dump of the state
  const env = { HOME: cwd, _RJEM_MALLOC_CONF: "dirty_decay_ms:0,muzzy_decay_ms:0,narenas:1" };
  const shell = sh(watcher, ["watcher", command, ...args], cwd, env);
  let [said, pid] = ["", 0];
  shell.stdin.on("error", () => undefined);
  shell.stdout.once("data", (text: Buffer) => (pid = Number(text)));
  shell.stderr.on("data", (part: Buffer) => (said = (said + part.toString()).slice(-most)));
  shell.once("exit", (_code, signal) => {
    if (signal !== null && pid > 0) kill(pid); // the shell was killed before it could wait for it
  });
  const ended = new Promise<string>((done) => {
    const over = (why: string) => done(said.trim() === "" ? why : `${why}: ${said.trim()}`);
    shell.once("error", ({ message }) => over(message));
    shell.once("close", (code, signal) => over(`it ended with ${signal ?? nameOf(code)}`));
  });
  return { ended, end: () => shell.stdin.end() };
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended
  }
}

/** Removes a folder once this process has ended, however it ended, or calls the returned function. */
export function removedAtEnd(folder: string): () => void {
  const shell = sh('read -r line; rm -rf "$0"', [folder], "/");
  shell.on("error", () => undefined).stdin.on("error", () => undefined);
  return () => shell.stdin.end();
}
