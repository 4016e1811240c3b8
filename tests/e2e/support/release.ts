import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillCacheFolder } from "../../../tools/lib/cache.mjs";
import { platform } from "../../../tools/lib/nodes.mjs";
import { run, succeed } from "../../../tools/lib/processes.mjs";
import { root } from "./root";

export const { version } = jest.requireActual<{ version: string }>("../../../package.json");

export interface Release {
  /** What `npm run release` wrote. */
  folder: string;
  /** The sources that it was made from, with a repository of their own. */
  source: string;
  /** Where the pages, the packages and Go's module say that this repository is. */
  address: URL;
}

/** The release of publish day, made once in a run of the tests: every test that installs one reads it. */
export async function released(): Promise<Release> {
  const home = join(tmpdir(), "consortium-release");
  await fillCacheFolder(home, { what: "The release", isWhole: () => existsSync(home), fill: make });
  const source = join(home, "source");
  const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as { repository: { url: string } };
  const address = new URL(manifest.repository.url.replace(/^git\+|\.git$/g, ""));
  return { folder: join(source, "release"), source, address };
}

async function make(draft: string): Promise<void> {
  const source = join(draft, "source");
  await copySources(source);
  const change = (file: string, to: (text: string) => string): void =>
    writeFileSync(join(source, file), to(readFileSync(join(source, file), "utf8")));
  const url = `git+https://127.0.0.1:${await quietPort()}/acme/consortium.git`;
  const about = (text: string): object => JSON.parse(text) as object;
  change("package.json", (text) => JSON.stringify({ ...about(text), repository: { type: "git", url } }, undefined, 2));
  change("CHANGELOG.md", (text) => text.replace("not published yet", new Date().toISOString().slice(0, 10)));
  const { code, text } = await run("npm", ["run", "generate"], { cwd: source });
  if (code !== 0) throw new Error(text);
  const git = (...args: string[]) => succeed("git", args, { cwd: source });
  await git("init", "--quiet");
  await git("add", "--all");
  await git("-c", "user.name=r", "-c", "user.email=r@example.com", "commit", "--quiet", "--message", version);
  await git("tag", `v${version}`);
  await succeed(process.execPath, [join(source, "tools/release.mjs"), "--platforms", platform], { cwd: source });
}

/** The sources as they are, what is built from them, and the packages by hard links: links to our own packages lead to the copy. */
async function copySources(source: string): Promise<void> {
  mkdirSync(join(source, "node_modules"), { recursive: true });
  const listed = await succeed("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  const files = listed.split("\0").filter((file) => file && existsSync(join(root, file)));
  const built = [".", "console", "fleet", "service"].map((folder) => join(folder, "dist"));
  await succeed("cp", ["-a", "--parents", ...files, ...built, source], { cwd: root });
  const modules = join(root, "node_modules");
  const packages = readdirSync(modules).filter((name) => ![".cache", ".package-lock.json"].includes(name));
  const copy = (how: string) => succeed("cp", [how, ...packages, join(source, "node_modules")], { cwd: modules });
  await copy("-al").catch(() => copy("-a")); // of another file system
  copyFileSync(join(modules, ".package-lock.json"), join(source, "node_modules/.package-lock.json")); // npm writes it in place
}

/** A port that is free now, and that nobody gets without asking for it: the same as last time, so that Go has compiled the SDK of that address. */
async function quietPort(): Promise<number> {
  for (let port = 24_280; ; port++) {
    const server = createServer();
    const isFree = await new Promise<boolean>((done) => {
      server.on("error", () => done(false)).listen(port, "127.0.0.1", () => server.close(() => done(true)));
    });
    if (isFree) return port;
  }
}
