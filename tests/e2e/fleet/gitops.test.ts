import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { send } from "../../support/network";
import { finished, root, withoutCompiler } from "../support/stack";
import { canaryKey, type World, world } from "../support/world";

const example = "examples/gitops";
let w: World;

/** A checkout of the example, as a runner has it after `npm ci`, with two stacks that somebody made once by hand. */
beforeAll(async () => {
  w = await world({ example });
  const bin = join(w.stack.folder, "node_modules/.bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "pulumi-consortium"), `#!/bin/sh\nexec node "${root}/dist/cli/consortium.js" "$@"\n`, {
    mode: 0o755,
  });
  for (const name of ["staging", "production"]) {
    cpSync(join(root, example, `Pulumi.${name}.yaml`), join(w.stack.folder, `Pulumi.${name}.yaml`));
    await w.stack.ok(["stack", "init", name]);
  }
});
afterAll(() => w.close());

/** For all but the first test: the program compiled once, and what `npx --no-install` finds without npm, which takes long to start. */
function lighten(): void {
  const settings = readFileSync(join(w.stack.folder, "Pulumi.yaml"), "utf8");
  const options = "runtime:\n  name: nodejs\n  options: { typescript: false }";
  w.stack.write("Pulumi.yaml", settings.replace("runtime: nodejs", options));
  w.stack.write("package.json", JSON.stringify({ name: "trade-network", main: "index.js" }));
  const { code } = transformSync(readFileSync(join(root, example, "index.ts"), "utf8"), {
    loader: "ts",
    format: "cjs",
  });
  w.stack.program(code);
  const folder = join(w.stack.folder, "without-npx");
  mkdirSync(folder);
  const found = 'test "$1" = --no-install && shift && exec "node_modules/.bin/$@"';
  writeFileSync(join(folder, "npx"), `#!/bin/sh\n${found}\n`, { mode: 0o755 });
  Object.assign(w.stack.env, { PATH: `${folder}:${w.stack.env.PATH}`, NODE_OPTIONS: withoutCompiler });
}

const script = (name: string, args: string[], env: Record<string, string> = {}, hear?: (text: string) => void) => {
  const child = spawn(join(w.stack.folder, "scripts", name), args, {
    env: { ...w.stack.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stderr.on("data", (chunk) => hear?.(String(chunk)));
  return finished(child);
};
const report = (): string => readFileSync(join(w.stack.folder, "report.md"), "utf8");
/** A check calls nodes, too: that changes nothing in the service. */
const writes = (): string[] =>
  w.service.calls
    .filter(({ method, path }) => method !== "GET" && !path.startsWith("/runtime/"))
    .map(({ method, path }) => `${method} ${path}`);
const patch = (path: string, body: object) => send(w.service, "PATCH", path, body);

const locks = (): string => join(w.stack.folder, "state/.pulumi/locks/organization/trade-network/staging");
/** Somebody else is at work on staging. */
function lock(): void {
  const holder = { pid: 1, username: "somebody", hostname: "elsewhere", timestamp: new Date() };
  mkdirSync(locks(), { recursive: true });
  writeFileSync(join(locks(), "7d6f1c1e-0000-4000-8000-000000000000.json"), JSON.stringify(holder));
}
const unlock = (): void => rmSync(locks(), { recursive: true });

/** One story: each test goes on where the one before it ended. */
describe("the scripts that the workflows call", () => {
  test("a pull request: one report of both stacks, with what policies say, and no call to the service", async () => {
    const env = { POLICY_PACK: join(root, "policy-pack") };
    for (const stack of ["staging", "production"]) {
      const { code, text } = await script("preview.sh", [stack], env);
      expect({ code, text }).toMatchObject({ code: 0 });
    }
    expect(await script("report.sh", ["What this does"])).toMatchObject({ code: 0 });
    expect(report()).toMatch(/^## What this does\n/);
    expect(report()).toContain("### `trade-network/staging`\n\n5 created");
    expect(report()).toContain("### `trade-network/production`\n\n10 created");
    expect(report()).toContain("| advice | `balanced-membership` |");
    expect(writes()).toEqual([]);
    lighten();
  });

  test("a merge: applied", async () => {
    expect(await script("apply.sh", ["staging"])).toMatchObject({ code: 0 });
    expect((await w.network()).nodes.map(({ name }) => name)).toEqual(["harbour-1"]);
  });

  test("a night in which the stack is locked: exit code 1 if it stays so", async () => {
    lock();
    expect(await script("drift.sh", ["staging"], { LOCK_WAIT_SECONDS: "0" })).toMatchObject({
      code: 1,
      text: expect.stringContaining("the stack is currently locked by 1 lock(s)") as string,
    });
  });

  test("a merge while the stack is locked waits for it; the second time there is nothing to do", async () => {
    w.service.clearCalls();
    const waiting = script("apply.sh", ["staging"], {}, (text) => {
      if (text.includes("another run is at work on the stack")) unlock();
    });
    expect(await waiting).toMatchObject({ code: 0 });
    expect(report()).toMatch(/Nothing to do: \d+ unchanged\.\n$/);
    expect(writes()).toEqual([]);
  });

  test("a night without drift", async () => {
    expect(await script("drift.sh", ["staging"])).toMatchObject({ code: 0 });
    expect(report()).toMatch(/No drift: \d+ unchanged\.\n$/);
  });

  test("a night with drift: exit code 2, the report names it, and nothing is changed", async () => {
    const [consortium] = (await w.network()).consortia;
    await patch(`/consortia/${String(consortium!._id)}`, { description: "changed in the console" });
    w.service.clearCalls();
    const { code, text } = await script("drift.sh", ["staging"]);
    expect({ code, text }).toMatchObject({ code: 2 });
    expect(report()).toContain(
      '| drifted | Consortium `trade-staging` | `description`: `"Who shipped what to whom"` →',
    );
    expect(writes()).toEqual([]);
    await patch(`/consortia/${String(consortium!._id)}`, { description: "Who shipped what to whom" });
  });

  test("a night with a refused key: exit code 1", async () => {
    const { code, text } = await script("drift.sh", ["staging"], { CONSORTIUM_API_KEY: "refused" });
    expect({ code, text }).toMatchObject({ code: 1 });
    expect(report()).toContain("**It failed.**");
  });

  test("a change that would replace the ledger: a loud warning, and applied only when that is allowed", async () => {
    const program = readFileSync(join(w.stack.folder, "index.js"), "utf8");
    w.stack.program(program.replace('"raft"', '"ibft"'));
    const before = (await w.network()).environments;
    expect(await script("preview.sh", ["staging"])).toMatchObject({ code: 0 });
    rmSync(join(w.stack.folder, "plans/production.json"), { force: true });
    expect(await script("report.sh", ["Preview"])).toMatchObject({ code: 0 });
    expect(report()).toContain("> **THIS DESTROYS A LEDGER, OR A PART OF ONE.**");
    const printed = /^````text\n(###[^]*?)^````$/m.exec(readFileSync(join(root, "docs/gitops.md"), "utf8"))?.[1];
    const shown = report()
      .replaceAll(/"e[0-9a-z]{9}"/g, '"ebx4k2m9qd"')
      .replaceAll(/chain \d+/g, "chain 1652122087");
    expect(shown).toBe(`## Preview\n\n${printed}`);

    const refused = await script("apply.sh", ["staging"]);
    expect(refused).toMatchObject({ code: 2, text: expect.stringContaining("nothing was done to staging") as string });
    expect((await w.network()).environments).toEqual(before);

    expect(await script("apply.sh", ["staging"], { ALLOW_LEDGER_LOSS: "true" })).toMatchObject({ code: 0 });
    expect((await w.network()).environments).toMatchObject([{ consensus_type: "ibft" }]);
  });

  test("a program that breaks: the report says why, and nothing is done", async () => {
    w.stack.program('throw new Error("out of order");\n');
    w.service.clearCalls();
    const { code, text } = await script("apply.sh", ["staging"]);
    expect(code).not.toBe(0);
    expect(text).toContain("the preview of staging failed, nothing was done");
    expect(report()).toMatch(/\*\*It failed\.\*\*[^]*out of order/);
    expect(writes()).toEqual([]);
  });

  test("neither key nor password is in any report or plan", async () => {
    const { logins } = (await w.stack.outputs("staging")) as { logins: { password: string }[] };
    const shown = report() + readFileSync(join(w.stack.folder, "plans/staging.json"), "utf8");
    expect([canaryKey, logins[0]!.password].filter((one) => shown.includes(one))).toEqual([]);
  });
});

interface Written {
  id: number;
  number: number;
  title?: string;
  body: string;
  pull_request?: object;
}

/** As much of a forge as the scripts ask for: lists in pages, what is added, and what is changed. */
async function forge(there: Written[], answers: { token: string; change: string }) {
  const add = (list: Written[], fields: { body: string }): void =>
    void list.push({ id: list.length + 1, number: list.length + 1, ...fields });
  const server: Server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += String(chunk)));
    request.on("end", () => {
      const { pathname, searchParams } = new URL(request.url!, "http://forge");
      const json = request.headers["content-type"]?.includes("urlencoded") === false || text.startsWith("{");
      const fields = (json ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text))) as { body: string };
      const given = request.headers["private-token"] ?? request.headers.authorization?.replace("Bearer ", "");
      if (given !== answers.token) response.statusCode = 401;
      else if (request.method === "POST") add(there, fields);
      else if (request.method === answers.change) Object.assign(there[Number(pathname.split("/").at(-1)) - 1]!, fields);
      else if (request.method !== "GET") response.statusCode = 405;
      const [page, size] = [Number(searchParams.get("page") ?? 1), Number(searchParams.get("per_page") ?? 20)];
      if (page * size < there.length) response.setHeader("X-Next-Page", page + 1);
      else response.setHeader("X-Next-Page", "");
      response.end(JSON.stringify(request.method === "GET" ? there.slice((page - 1) * size, page * size) : {}));
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address, close: () => void server.close() };
}

/** What others wrote: more than a page of it, and the report of another project's bot. */
const others = (): Written[] => [
  ...Array.from({ length: 120 }, (_, at) => ({ id: at + 1, number: at + 1, body: `opinion ${at}` })),
  { id: 121, number: 121, body: "<!-- consortium comment: other/staging -->\n\n## Theirs\n" },
];

const marked = (kind: string, ...stacks: string[]): string =>
  `<!-- consortium ${kind}: ${stacks.map((stack) => `trade-network/${stack}`).join(" ")} -->\n\n`;

test.each([
  ["comment-gitlab.sh", ["staging", "production"], "PUT", marked("comment", "staging", "production")],
  ["github.mjs", ["comment", "staging", "production"], "PATCH", marked("comment", "staging", "production")],
  ["github.mjs", ["issue", "staging"], "PATCH", marked("issue", "staging")],
] as const)(
  "%s %j writes the report once, then replaces it, and touches nothing of others",
  async (name, args, change, mark) => {
    const there = others();
    const { address, close } = await forge(there, { token: "token", change });
    const gitlab = { CI_API_V4_URL: address, CI_PROJECT_ID: "7", CI_MERGE_REQUEST_IID: "3" };
    const github = { GITHUB_API_URL: address, GITHUB_REPOSITORY: "acme/network", PULL_REQUEST: "3" };
    const env = { ...gitlab, ...github, GITLAB_COMMENT_TOKEN: "token", GITHUB_TOKEN: "token" };
    try {
      for (const text of ["## First\n", "## Second\n"]) {
        w.stack.write("report.md", text);
        expect(await script(name, [...args], env)).toMatchObject({ code: 0 });
        expect(there.slice(0, 121)).toEqual(others());
        expect(there.slice(121)).toMatchObject([{ body: mark + text }]);
      }
      const wrong = { ...env, GITLAB_COMMENT_TOKEN: "wrong", GITHUB_TOKEN: "wrong" };
      expect((await script(name, [...args], wrong)).code).not.toBe(0);
      expect(there).toHaveLength(122);
    } finally {
      close();
    }
  },
);

test("an issue of one stack is not that of another, and no pull request is taken for one", async () => {
  const there: Written[] = [
    { id: 1, number: 1, body: marked("issue", "production") },
    { id: 2, number: 2, body: marked("issue", "staging"), pull_request: {} },
  ];
  const { address, close } = await forge(there, { token: "token", change: "PATCH" });
  try {
    w.stack.write("report.md", "## Drift\n");
    const env = { GITHUB_API_URL: address, GITHUB_REPOSITORY: "acme/network", GITHUB_TOKEN: "token" };
    expect(await script("github.mjs", ["issue", "staging"], env)).toMatchObject({ code: 0 });
    expect(there.map(({ body }) => body)).toEqual([
      marked("issue", "production"),
      marked("issue", "staging"),
      `${marked("issue", "staging")}## Drift\n`,
    ]);
    expect(there[2]).toMatchObject({ title: "Drift of staging" });
  } finally {
    close();
  }
});
