// @ts-check
/** A release's servers on this machine: the repository with its release, an index for pip and a proxy for Go. */
import { spawn } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { succeed } from "./processes.mjs";

/** Where Linux keeps the certificates that everybody trusts. */
const known = "/etc/ssl/certs/ca-certificates.crt";

/** A certificate for 127.0.0.1, and a bundle of it and all others. @param {string} folder */
async function certificate(folder) {
  const [key, cert, bundle] = ["key.pem", "cert.pem", "bundle.pem"].map((name) => join(folder, name));
  const names = ["-subj", "/CN=rehearsal", "-addext", "subjectAltName=IP:127.0.0.1"];
  const files = ["-keyout", key ?? "", "-out", cert ?? ""];
  await succeed("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...names, ...files]);
  const text = (/** @type {string} */ file) =>
    statSync(file, { throwIfNoEntry: false }) ? readFileSync(file, "utf8") : "";
  writeFileSync(bundle ?? "", text(known) + text(cert ?? ""));
  return { key: text(key ?? ""), cert: text(cert ?? ""), bundle: bundle ?? "" };
}

/** @typedef {{ [path: string]: string }} Files path → a file, or the folder of all below it (the path then ends in "/") */

/**
 * @param {string} folder for its certificate
 * @param {{ path: string, folder: string }} repository what git clones
 * @param {() => Files} files
 * @param {number} [wanted] the port
 */
export async function startForge(folder, repository, files, wanted = 0) {
  const { key, cert, bundle } = await certificate(folder);

  /** Git's own protocol: a list of refs, then a pack. @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
  function clone(request, response) {
    const isList = request.method === "GET";
    const args = ["upload-pack", "--stateless-rpc", ...(isList ? ["--advertise-refs"] : []), repository.folder];
    response.setHeader("content-type", `application/x-git-upload-pack-${isList ? "advertisement" : "result"}`);
    if (isList) response.write("001e# service=git-upload-pack\n0000");
    const git = spawn("git", args, { stdio: ["pipe", "pipe", "inherit"] });
    git.stdin.on("error", () => undefined);
    request.pipe(git.stdin);
    git.stdout.pipe(response);
  }

  /** @param {string} path @returns {string | undefined} */
  function fileAt(path) {
    const [at = "", to = ""] =
      Object.entries(files()).find(([one]) => path === one || (one.endsWith("/") && path.startsWith(one))) ?? [];
    const file = at.endsWith("/") ? join(to, path.slice(at.length)) : to;
    return to !== "" && !path.includes("..") && statSync(file, { throwIfNoEntry: false })?.isFile() ? file : undefined;
  }

  const server = createServer({ key, cert }, (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "https://forge").pathname);
    if (path.startsWith(repository.path) && /\/(info\/refs|git-upload-pack)$/.test(path))
      return clone(request, response);
    const file = fileAt(path);
    if (!file) return void response.writeHead(404).end("not found");
    response.setHeader("content-type", file.endsWith(".html") ? "text/html" : "application/octet-stream");
    return void response.end(readFileSync(file));
  });
  await new Promise((resolve) => server.listen(wanted, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `https://127.0.0.1:${port}`, bundle, close: () => server.close() };
}
