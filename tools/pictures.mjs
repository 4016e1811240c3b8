// @ts-check
/** npm run pictures: the pictures of docs/console.md, of the console on a network like the quickstart's. */
import "./lib/node-version.mjs";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openBrowser } from "./lib/browser.mjs";
import { build, installPackages, root } from "./lib/prepare.mjs";
import { onPath } from "./lib/processes.mjs";
import { runMain, log, UserError } from "./lib/terminal.mjs";

const tether = "t0mytether";
const folder = join(root, "docs", "pictures");

/** Heights and pins need some time before there is something to see. */
const growingMs = 15_000;

await runMain("npm run pictures", async () => {
  const [chromium] = onPath("chromium", process.env);
  if (!chromium) throw new UserError("The pictures need chromium (on Debian and Ubuntu: apt-get install chromium).");
  await installPackages();
  await build();
  /** @type {typeof import("../service/index.js")} */
  const { startService } = await import("pulumi-consortium/service");
  /** @type {typeof import("../provider/api/index.js")} */
  const { resolveSettings } = await import("pulumi-consortium/client");
  /** @type {typeof import("../console/server/console.js")} */
  const { startConsole } = await import(join(root, "dist", "console", "server", "console.js"));
  const service = await startService({ ledger: true, tethers: [{ id: tether }], timing: { tetherHour: 3_000 } });
  const provider = { baseUrl: service.baseUrl, apiKey: service.apiKey };
  const console = await startConsole({ settings: resolveSettings({ env: {}, provider }) });
  try {
    const environment = await makeNetwork(service);
    await takeAll(chromium, console.newLink(), environment, service);
  } finally {
    await console.close();
    await service.close();
  }
  log(`The pictures are in ${folder}.`);
  return 0;
});

/**
 * @param {{ baseUrl: string, apiKey: string }} service
 * @returns {(path: string, body?: object) => Promise<any>}
 */
function asker({ baseUrl, apiKey }) {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  return async (path, body) => {
    const post = body && { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(baseUrl + path, { headers, ...post });
    if (!response.ok) throw new UserError(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
}

/** @param {import("../service/index.js").Service} service @returns {Promise<string>} the environment's id */
async function makeNetwork(service) {
  const ask = asker(service);
  const description = "Who delivered which beans to whom";
  const { _id: consortium } = await ask("/consortia", { name: "coffee-trade", description });
  const within = `/consortia/${consortium}`;
  const kind = { provider: "quorum", consensus_type: "ibft" };
  const { _id: environment } = await ask(`${within}/environments`, { name: "ledger", ...kind });
  const inside = `${within}/environments/${environment}`;
  for (const org_name of ["grower", "roaster"]) {
    const { _id: membership_id } = await ask(`${within}/memberships`, { org_name });
    for (const number of [1, 2]) await ask(`${inside}/nodes`, { membership_id, name: `${org_name}-${number}` });
    await ask(`${inside}/appcreds`, { membership_id, name: `${org_name}-app` });
  }
  while ((await ask(`${inside}/nodes`)).some((/** @type {{ state: string }} */ { state }) => state !== "started"))
    await wait(100);
  for (const [action, body] of Object.entries({
    targetNetwork: { network: "rinkeby" },
    interval: { interval: 1 },
    deploy: {},
    activate: {},
  }))
    await ask(`/tether/${tether}/${action}`, body);
  return environment;
}

/**
 * @param {string} chromium
 * @param {string} link
 * @param {string} environment
 * @param {import("../service/index.js").Service} service
 */
async function takeAll(chromium, link, environment, service) {
  mkdirSync(folder, { recursive: true });
  const { context, close } = await openBrowser(chromium);
  try {
    const page = context.pages()[0] ?? (await context.newPage());
    await page.setViewportSize({ width: 1120, height: 900 });
    await page.goto(link);
    await page.locator(".network-map").waitFor();
    await wait(growingMs);
    const go = async (/** @type {string} */ route, /** @type {string} */ sign) => {
      await page.goto(`${page.url().replace(/#.*/, "")}#/${route}`);
      await page.locator(sign).first().waitFor();
    };
    const take = (/** @type {string} */ name) => page.screenshot({ path: join(folder, `console-${name}.png`) });
    await go("", ".network-map");
    await take("network");
    await page.setViewportSize({ width: 390, height: 844 });
    await take("phone");
    await page.setViewportSize({ width: 1120, height: 900 });
    await go(`environments/${environment}`, ".blocks li");
    await page.emulateMedia({ colorScheme: "dark" });
    await wait(3_000);
    await take("environment");
    await page.emulateMedia({ colorScheme: "light" });
    await go(`tethers/${tether}`, ".chart canvas");
    await page
      .getByRole("button", { name: /^Verify/ })
      .first()
      .click();
    await page.locator(".verdict").first().waitFor();
    await page.evaluate("scrollTo(0, 0)");
    await take("tether");
    const fault = { kind: "status", status: 503, method: "GET", route: "/consortia", times: 5 };
    await asker(service)("/embedded/faults", fault);
    await fetch(`${service.baseUrl}/consortia`, { headers: { authorization: `Bearer ${service.apiKey}` } });
    await go("testing", "table:has-text('1 of 1')");
    await take("testing");
  } finally {
    await close();
  }
}
