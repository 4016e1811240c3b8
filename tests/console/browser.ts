import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import AxeBuilder from "axe-core";
import { chromium, type Page } from "playwright-core";
import { client } from "../service/helpers";
import { ended, programOf, ready } from "../e2e/support/backends/programs";
import { patiently } from "../support/jest/patience";

const program = join(__dirname, "../../dist/cli/consortium.js");
const options = { stdio: ["ignore", "pipe", "pipe"] as ["ignore", "pipe", "pipe"] };

/** `consortium console` of a service, with its one-time link. */
export async function openConsole({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }, ...args: string[]) {
  const env = { ...process.env, CONSORTIUM_BASE_URL: baseUrl, CONSORTIUM_API_KEY: apiKey };
  const inEnv = { ...options, env };
  const child: ChildProcess = spawn(process.execPath, [program, "console", "--port", "0", ...args], inEnv);
  const [link] = await ready(child, "consortium console", /http:\S+\/sign-in\/\S+/);
  return { link, signal: (signal: NodeJS.Signals) => child.kill(signal), stop: () => ended(child, "SIGTERM") };
}

/** A service of the command line, with its console. */
export async function serve(...args: string[]) {
  const child: ChildProcess = spawn(process.execPath, [program, "serve", "--port", "0", "--json", ...args], options);
  const [line] = await ready(child, "consortium serve", /^\{.*\}$/m);
  const { baseUrl, apiKeyFile, console: url } = JSON.parse(line) as Record<string, string>;
  const apiKey = readFileSync(apiKeyFile!, "utf8").trim();
  const headers = { authorization: `Bearer ${apiKey}` };
  return {
    baseUrl: baseUrl!,
    send: client(baseUrl!, apiKey),
    /** A new one-time link. */
    async link() {
      const response = await fetch(`${url}/links`, { method: "POST", headers });
      return ((await response.json()) as { link: string }).link;
    },
    stop: () => ended(child, "SIGTERM"),
  };
}
export type Served = Awaited<ReturnType<typeof serve>>;

const quiet = [
  ...["--disable-gpu", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
];

/** How long to wait for anything on a page. It only ends what hangs, and says what that was: a busy machine takes its time. */
const limitMs = patiently(120_000);

/** A browser that collects the pages' console messages and requests to other sites, which must not occur. */
export async function browse() {
  const executablePath = await programOf("chromium", "chromium fonts-dejavu-core");
  const folder = mkdtempSync(join(tmpdir(), "consortium-browser-")); // no user's data, and no calls home
  const args = process.getuid?.() === 0 ? ["--no-sandbox", ...quiet] : quiet;
  const context = await chromium.launchPersistentContext(folder, { executablePath, args, headless: true });
  context.setDefaultTimeout(limitMs);
  const complaints: string[] = [];
  const watch = (page: Page): void => {
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
  };
  context.on("page", watch);
  context.pages().forEach(watch);
  context.on("request", (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol !== "data:" && hostname !== "127.0.0.1") complaints.push(`asks ${request.url()}`);
  });
  return { context, complaints, close: () => context.close() };
}

/** axe-core's findings about a page, one per line. It runs from outside, bypassing the page's Content-Security-Policy. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AxeBuilder.source);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof AxeBuilder };
    const { violations: found } = await axe.run();
    return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  });
}
