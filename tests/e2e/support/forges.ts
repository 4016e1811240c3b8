import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Result } from "./stack";

/* As much of the API of GitHub and GitLab as the pipelines of examples/gitops use. Who runs them: github.ts and gitlab.ts. */

export interface Written {
  id: number;
  number: number;
  title?: string;
  body: string;
  pull_request?: object;
}

interface Artifact {
  id: number;
  name: string;
  expired: boolean;
  created_at: string;
  workflow_run: { id: number; repository_id: number; head_repository_id: number; head_branch: string };
}

type Env = Record<string, string | undefined>;
export type Rights = Record<string, string>;

/** What a token may do is in the token. */
export const tokenWith = (rights: Rights): string => Buffer.from(JSON.stringify(rights)).toString("base64url");
const rightsIn = (token: string): Rights => {
  try {
    return JSON.parse(Buffer.from(token, "base64url").toString()) as Rights;
  } catch {
    return {};
  }
};

const running: Forge[] = [];
afterAll(() => running.splice(0).forEach((forge) => forge.close()));

/** Comments, issues, artifacts and packages, over HTTP. It ends with the tests of the file. */
export class Forge {
  /** Comments and issues; a list for all. */
  readonly written: Written[];
  readonly packages = new Map<string, Buffer>();
  readonly folder = mkdtempSync(join(tmpdir(), "consortium-forge-"));
  address = "";
  #server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { status, body } = this.#answer(request, Buffer.concat(parts));
      response.statusCode = status;
      response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
    });
  });

  private constructor(written: Written[]) {
    this.written = written;
  }

  static async start(written: Written[] = []): Promise<Forge> {
    const forge = new Forge(written);
    running.push(forge);
    await new Promise<void>((listening) => forge.#server.listen(0, "127.0.0.1", listening));
    forge.address = `http://127.0.0.1:${(forge.#server.address() as AddressInfo).port}`;
    return forge;
  }

  /** Where jobs of GitHub keep what they upload: `<run>/<name>.zip`, and the branch of the run in `<run>/branch`. */
  get uploads(): string {
    return join(this.folder, "uploads");
  }

  get artifacts(): Artifact[] {
    const runs = existsSync(this.uploads) ? readdirSync(this.uploads) : [];
    return runs
      .flatMap((run) => readdirSync(join(this.uploads, run)).map((file) => ({ run, file })))
      .filter(({ file }) => file.endsWith(".zip"))
      .map(({ run, file }, id) => {
        const branch = join(this.uploads, run, "branch");
        const head_branch = existsSync(branch) ? readFileSync(branch, "utf8") : "change";
        const created_at = statSync(join(this.uploads, run, file)).mtime.toISOString();
        const workflow_run = { id: Number(run), repository_id: 1, head_repository_id: 1, head_branch };
        return { id, name: file.replace(/\.zip$/, ""), expired: false, created_at, workflow_run };
      });
  }

  /** A bare repository, and where the team works: a clone of it, on main. */
  repository(clone = join(this.folder, "clone")): { repository: string; clone: string } {
    const repository = join(this.folder, "network.git");
    execFileSync("git", ["init", "--quiet", "--bare", repository]);
    execFileSync("git", ["clone", "--quiet", repository, clone], { stdio: "pipe" });
    const team = { "user.name": "team", "user.email": "team@example.com" };
    for (const setting of Object.entries(team)) execFileSync("git", ["-C", clone, "config", ...setting]);
    execFileSync("git", ["-C", clone, "checkout", "--quiet", "-b", "main"]);
    return { repository, clone };
  }

  /** A folder of programs that stand in for others of these names. @param programs scripts for a shell */
  programs(programs: Record<string, string>): string {
    const bin = join(this.folder, "bin");
    mkdirSync(bin);
    for (const [name, text] of Object.entries(programs))
      writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    return bin;
  }

  close(): void {
    this.#server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #answer(request: IncomingMessage, content: Buffer): { status: number; body: unknown } {
    const { pathname, searchParams } = new URL(request.url!, this.address);
    const token = String(
      request.headers["private-token"] ?? request.headers["job-token"] ?? request.headers.authorization,
    );
    const rights = rightsIn(token.replace("Bearer ", ""));
    const may = (right: string, least = "read"): boolean => [least, "write"].includes(rights[right] ?? "none");
    const method = request.method!;
    const refused = { status: 403, body: {} };

    if (pathname.includes("/packages/generic/")) {
      if (!may("packages", method === "PUT" ? "write" : "read")) return refused;
      if (method === "PUT") this.packages.set(pathname, content);
      const kept = this.packages.get(pathname);
      return kept ? { status: 200, body: kept } : { status: 404, body: {} };
    }
    if (pathname.includes("/actions/artifacts")) {
      if (!may("actions")) return refused;
      const one = this.artifacts.find(({ id }) => pathname.endsWith(`/${id}/zip`));
      if (one) {
        const file = join(this.uploads, String(one.workflow_run.id), `${one.name}.zip`);
        return { status: 200, body: readFileSync(file) };
      }
      return {
        status: 200,
        body: { artifacts: this.artifacts.filter(({ name }) => name === searchParams.get("name")) },
      };
    }
    if (!may(/comments|notes/.test(pathname) ? "pull-requests" : "issues", "write")) return refused;
    const fields = JSON.parse(content.toString() || "{}") as Written;
    const id = this.written.length + 1;
    if (method === "POST") this.written.push({ ...fields, id, number: id });
    else if (method !== "GET") Object.assign(this.written[Number(pathname.split("/").at(-1)) - 1]!, fields);
    const [page, size] = [Number(searchParams.get("page") ?? 1), Number(searchParams.get("per_page") ?? 20)];
    return { status: 200, body: method === "GET" ? this.written.slice((page - 1) * size, page * size) : {} };
  }
}

/** Where pipelines run: a bare repository, and the programs that a runner has. */
export interface Runner {
  forge: Forge;
  /** The bare repository. */
  repository: string;
  env: Env;
  /** The stack of a matrix that it takes on (default: all). */
  stack?: string;
  /** By environment, what a forge gives its jobs. */
  settings: (environment: string) => { vars: Env; secrets: Env };
}

export interface Job extends Omit<Result, "ms"> {
  /** Whether a job that it needs failed, or its condition does not hold. */
  skipped: boolean;
  folder: string;
}
