import { spawn } from "node:child_process";
import { join } from "node:path";
import { installFromPyPI } from "../pypi";
import { type Backend, ended, ready } from "./programs";

/** An S3-compatible server on the loopback interface (moto, from PyPI), with one bucket, in memory. */
export async function startS3(): Promise<Backend> {
  const bin = await installFromPyPI("s3-server", join(__dirname, "requirements.txt"));
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
