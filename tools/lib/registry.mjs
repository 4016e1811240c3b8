// @ts-check
/** A registry for npm on this machine, with packages of ours; all others come from npm's. */
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "yaml";
import { nodeOf } from "./nodes.mjs";
import { succeed } from "./processes.mjs";
import { UserError } from "./terminal.mjs";

const verdaccio = "6.10.4";

/** @returns {Promise<number>} a port that is free now */
const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });

/** @param {string} folder for its data @param {string} archives the packages to publish there */
export async function startRegistry(folder, archives) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const upstream = (await succeed("npm", ["config", "get", "registry"])).trim();
  const everybody = { access: "$all", publish: "$anonymous", proxy: "npm" };
  const config = join(folder, "verdaccio.yaml");
  writeFileSync(
    config,
    stringify({
      storage: join(folder, "npm"),
      uplinks: { npm: { url: upstream } },
      packages: { "{pulumi-,}consortium{-*,}": { access: "$all", publish: "$anonymous" }, "**": everybody },
      log: { type: "stdout", level: "warn" },
    }),
  );
  const program = join(folder, "verdaccio");
  mkdirSync(program, { recursive: true });
  // Its dependencies name node-fetch by a tag (`cjs`), which mirrors of npm may lack.
  const manifest = { private: true, dependencies: { verdaccio }, overrides: { "node-fetch": "2.7.0" } };
  writeFileSync(join(program, "package.json"), JSON.stringify(manifest));
  await succeed("npm", ["install", "--no-audit", "--no-fund"], { cwd: program });
  const args = [
    join(program, "node_modules/verdaccio/bin/verdaccio"),
    "--config",
    config,
    "--listen",
    `127.0.0.1:${port}`,
  ];
  const child = spawn(await nodeOf("24"), args, { stdio: "ignore" });
  const end = () => {
    if (child.exitCode === null) child.kill();
  };
  const answers = () => fetch(`${url}-/ping`).then(({ ok }) => ok).catch(() => false); // prettier-ignore
  for (const deadline = Date.now() + 180_000; !(await answers()); await sleep(500)) {
    if (child.exitCode === null && Date.now() < deadline) continue;
    end();
    throw new UserError(`verdaccio ${verdaccio} does not start.`);
  }
  const home = join(folder, "publisher");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, ".npmrc"), `//127.0.0.1:${port}/:_authToken=anybody\n`);
  const env = { ...process.env, npm_config_userconfig: join(home, ".npmrc"), npm_config_registry: url };
  for (const name of readdirSync(archives))
    await succeed("npm", ["publish", "--ignore-scripts", join(archives, name)], { env });
  return { url, close: end };
}
