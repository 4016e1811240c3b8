import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Send } from "../service/helpers";
import { startPinning } from "../support/network";
import { browse, serve } from "./browser";

/* npm run pictures: the pictures of docs/console.md, of the console on a network like the quickstart's. */

const tether = "t0mytether";
const folder = join(__dirname, "../../docs/pictures");
/** Heights and pins need some time before there is something to see. */
const growingMs = 15_000;

/** @returns the environment's id */
async function makeNetwork(send: Send): Promise<string> {
  const ask = async (path: string, body: object) => {
    const { status, body: made, text } = await send("POST", path, body);
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
    return made;
  };
  const description = "Who delivered which beans to whom";
  const within = `/consortia/${(await ask("/consortia", { name: "coffee-trade", description }))._id}`;
  const kind = { provider: "quorum", consensus_type: "ibft" };
  const { _id: environment } = await ask(`${within}/environments`, { name: "ledger", ...kind });
  const inside = `${within}/environments/${environment}`;
  for (const org_name of ["grower", "roaster"]) {
    const { _id: membership_id } = await ask(`${within}/memberships`, { org_name });
    for (const number of [1, 2]) await ask(`${inside}/nodes`, { membership_id, name: `${org_name}-${number}` });
    await ask(`${inside}/appcreds`, { membership_id, name: `${org_name}-app` });
  }
  await startPinning(ask, tether);
  return environment;
}

test("the pictures of docs/console.md", async () => {
  const served = await serve("--tether", tether, "--tether-hour", "3");
  const { context, close } = await browse();
  try {
    const environment = await makeNetwork(served.send);
    mkdirSync(folder, { recursive: true });
    const page = context.pages()[0]!;
    const go = async (route: string, sign: string) => {
      await page.goto(`${page.url().replace(/#.*/, "")}#/${route}`);
      await page.locator(sign).first().waitFor();
    };
    const take = (name: string) => page.screenshot({ path: join(folder, `console-${name}.png`) });
    await page.setViewportSize({ width: 1120, height: 900 });
    await page.goto(await served.link());
    await page.locator(".network-map").waitFor();
    await wait(growingMs);
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
    await served.send("POST", "/embedded/faults", fault);
    await served.send("GET", "/consortia");
    await go("testing", "table:has-text('1 of 1')");
    await take("testing");
  } finally {
    await close();
    await served.stop();
  }
});
