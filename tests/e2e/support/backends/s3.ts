import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { withLock } from "../../../../tools/lib/lock.mjs";
import { cacheRoot } from "../../../../tools/lib/pulumi-cli.mjs";
import { type Backend, ended, installDebian, programOf, ready } from "./programs";

const execute = promisify(execFile);
const requirements = join(__dirname, "requirements.txt");

/** An S3-compatible server on the loopback interface (moto, from PyPI), with one bucket, in memory. */
export async function startS3(): Promise<Backend> {
  const bin = await installMoto();
  const server = spawn(join(bin, "moto_server"), ["-H", "127.0.0.1", "-p", "0"], {
    env: { ...process.env, PYTHONUNBUFFERED: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [, host = ""] = await ready(server, "moto", /Running on http:\/\/(\S+)/);
  const made = await fetch(`http://${host}/network-state`, { method: "PUT" });
  if (!made.ok) throw new Error(`moto does not make a bucket: ${made.status} ${await made.text()}`);
  return {
    url: `s3://network-state?region=us-east-1&endpoint=${host}&disableSSL=true&s3ForcePathStyle=true`,
    env: { AWS_ACCESS_KEY_ID: "tests", AWS_SECRET_ACCESS_KEY: "tests" },
    stop: () => ended(server, "SIGKILL"),
  };
}

/** Into the user's cache, once for each version of the requirements. */
async function installMoto(): Promise<string> {
  const hash = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  const home = join(cacheRoot(process.env), `s3-server-${hash}`);
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
