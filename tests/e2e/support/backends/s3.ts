import { spawn } from "node:child_process";
import { join } from "node:path";
import { installFromPyPI } from "../pypi";
import { type Backend, ended, ready } from "./programs";

/**
 * `moto_server`, but head and body of an answer leave in one piece. The AWS SDK in Pulumi closes a connection that the head alone
 * has come from, if it has not yet noticed that its request is out, as on a busy machine: aws/aws-sdk-go-v2#2737. Then it says
 * "use of closed network connection", and does not ask again.
 */
const inOnePiece = `
from moto.moto_server.werkzeug_app import MotoRequestHandler
from moto.server import main
MotoRequestHandler.wbufsize = 2**16
main(["-H", "127.0.0.1", "-p", "0"])
`;

/** An S3-compatible server on the loopback interface (moto, from PyPI), with one bucket, in memory. It serves KMS and STS, too. */
export async function startS3(): Promise<Backend> {
  const bin = await installFromPyPI("s3-server", join(__dirname, "requirements.txt"));
  const server = spawn(join(bin, "python"), ["-c", inOnePiece], {
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
