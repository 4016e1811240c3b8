import { execFile, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Backend, ended, programOf, ready } from "./programs";

const execute = promisify(execFile);

/** A PostgreSQL server with its data and its socket in a folder of its own: it takes no port, which others may want. */
export async function startPostgres(): Promise<Backend> {
  const [initdb, postgres] = [
    await programOf("initdb", "postgresql", debianFolders),
    await programOf("postgres", "postgresql", debianFolders),
  ];
  const owner = serverUser();
  const folder = mkdtempSync(join(tmpdir(), "consortium-postgres-"));
  if (owner) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, "data");
  const env = { ...process.env, LC_ALL: "C" };
  const options = { ...owner, cwd: folder, env };
  await execute(initdb, ["-D", data, "-U", "pulumi", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"], options);
  const args = ["-D", data, "-F", "-c", "listen_addresses=", "-c", `unix_socket_directories=${folder}`];
  const server = spawn(postgres, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  await ready(server, "PostgreSQL", /ready to accept connections/);
  return {
    url: `postgres://pulumi@/postgres?host=${folder}&sslmode=disable`,
    env: {},
    stop: () => ended(server, "SIGINT"),
  };
}

/** Debian keeps the server's programs off PATH, by version; the newest comes first. */
function debianFolders(): string[] {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(root, version, "bin"));
}

/** PostgreSQL refuses to run as root: then it runs as the user that its package made. */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of ["postgres", "nobody"]) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
    if (uid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(
    "PostgreSQL does not run as root, and there is no user postgres or nobody. Run the tests as another user.",
  );
}
