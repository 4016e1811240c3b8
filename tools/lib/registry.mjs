// @ts-check
/** A registry for npm on this machine, with packages of ours: it sends those who ask for others to npm's. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { succeed } from "./processes.mjs";

/** @param {string} folder the archives of the packages */
export async function startRegistry(folder) {
  const others = (await succeed("npm", ["config", "get", "registry"])).trim();
  /** Path → what is there. @type {Map<string, string | Buffer>} */
  const has = new Map();
  const server = createServer(({ url = "" }, response) => {
    const found = has.get(url);
    if (found === undefined)
      return void response.writeHead(302, { location: new URL(url.slice(1), others).href }).end();
    // Another release has the same version, and other content.
    return void response.setHeader("cache-control", "no-store").end(found);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}/`;
  for (const file of readdirSync(folder)) {
    const archive = readFileSync(join(folder, file));
    const manifest = JSON.parse(await succeed("tar", ["-xzOf", join(folder, file), "package/package.json"]));
    const { name, version } = /** @type {{ name: string, version: string }} */ (manifest);
    const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
    const dist = { integrity, tarball: `${url}${name}/-/${file}` };
    const versions = { [version]: { ...manifest, dist } };
    has.set(`/${name}`, JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
    has.set(`/${name}/-/${file}`, archive);
  }
  return { url, close: () => server.close() };
}
