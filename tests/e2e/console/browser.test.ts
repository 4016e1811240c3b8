import type { Page } from "playwright-core";
import { build, type World } from "../../service/helpers";
import { startPinning } from "../../support/network";
import { browse, serve, type Served, violations } from "../../console/browser";

type Browser = Awaited<ReturnType<typeof browse>>;

const dangerous = "<img src=x onerror=alert(1)>";
const tether = "t0mytether";

/** One service, one session, one page: a story from the sign-in to the sign-out. */
describe("the console in a browser", () => {
  let served: Served;
  let browser: Browser;
  let world: World;
  let page: Page;

  beforeAll(async () => {
    served = await serve("--node-start", "4", "--tether", `${tether}=test`);
    world = await build(served.send);
    browser = await browse();
    page = browser.context.pages()[0]!;
  }); // where there is no browser yet, it is installed
  afterAll(async () => {
    await browser?.close();
    await served?.stop();
  });

  const see = (text: string | RegExp) => page.getByText(text).first().waitFor();
  const go = (name: string) => page.getByRole("link", { name, exact: true }).first().click();
  const button = (name: string | RegExp) => page.getByRole("button", { name });

  test("a link opens it, once", async () => {
    const link = await served.link();
    await page.goto(link);
    await page.getByRole("heading", { level: 1, name: "Network" }).waitFor();
    expect(await page.context().cookies()).toMatchObject([{ httpOnly: true, sameSite: "Strict" }]);
    const again = await browser.context.newPage();
    expect((await again.goto(link))!.status()).toBe(401);
    await again.close();
    browser.complaints.length = 0; // the 401, which the browser says on its console
  });

  test("the server's first message already contains the network", async () => {
    const first = page.waitForEvent("websocket").then((socket) => socket.waitForEvent("framereceived"));
    await page.reload();
    await page.getByRole("heading", { level: 2, name: "supply" }).waitFor();
    expect(String((await first).payload)).toContain('"supply"');
  });

  test("a node changes from initializing to started without a reload, and names are text", async () => {
    await page.evaluate(() => Object.assign(globalThis, { same: true }));
    const { status } = await served.send("POST", `${world.paths.environment}/nodes`, {
      membership_id: world.membership,
      name: dangerous,
    });
    expect(status).toBe(201);
    const node = page.locator(".nodes li", { hasText: dangerous });
    await node.getByText("initializing").waitFor();
    await node.getByText("started").waitFor();
    const map = page.getByRole("region", { name: "Map of supply" });
    await map.locator("text.label", { hasText: dangerous }).waitFor();
    expect(await page.locator("img[src=x]").count()).toBe(0);
    expect(await page.evaluate(() => "same" in globalThis)).toBe(true);
  });

  test("an environment, linked from each of its boxes, shows heights, blocks, validators and the log", async () => {
    await page.locator(".network-map g.node").first().click();
    await page.getByRole("img", { name: /Block heights/ }).waitFor();
    await page.locator(".blocks li").nth(2).waitFor();
    await page.getByRole("region", { name: "Validators" }).getByText("n1").waitFor();
    await page
      .getByRole("log")
      .getByText(/Node is started/)
      .waitFor();
    await button("Make a credential").click();
    const dialog = page.getByRole("dialog");
    expect((await dialog.locator(".secret code").textContent())!.length).toBeGreaterThan(40);
    await button("I have kept it").click();
    await dialog.waitFor({ state: "detached" });
    expect(await violations(page)).toEqual([]);
  });

  test("services, zones and invitations are shown in their places, with their addresses", async () => {
    const at = { region: "us-east-2", cloud: "aws" };
    const { consortium, environment } = world.paths;
    const documents = { name: dangerous, service: "documentstore", membership_id: world.membership };
    for (const [path, body] of [
      [`${consortium}/zones`, { name: "ohio", ...at }],
      [`${consortium}/invitations`, { org_name: "Third", email: "ops@third.example" }],
      [`${environment}/zones`, { name: "ohio", ...at }],
      [`${environment}/services`, documents],
    ] as const)
      expect((await served.send("POST", path, body)).status).toBe(201);
    const inside = page.getByRole("region", { name: "Services, configurations and zones" });
    const row = inside.getByRole("row").filter({ hasText: dangerous });
    await row.getByText("started").waitFor();
    await row.getByText(/documentstore · member · small/).waitFor();
    expect(await row.getByRole("button", { name: /^Copy address of/ }).count()).toBe(1);
    await inside.getByText("us-east-2 · aws").waitFor();
    expect(await violations(page)).toEqual([]);
    await go("Network");
    await page.getByText("Services started").waitFor();
    const above = page.getByRole("region", { name: "Zones and invitations" });
    await above.getByText("ops@third.example").waitFor();
    const map = page.getByRole("region", { name: "Map of supply" });
    await map.locator("g.service", { hasText: dangerous }).waitFor();
    expect(await page.locator("img[src=x]").count()).toBe(0);
    expect(await violations(page)).toEqual([]);
  });

  test("a pin is verified on the chain itself, and an account is funded", async () => {
    await startPinning(async (path, body) => expect((await served.send("POST", path, body)).status).toBe(200), tether);
    await go("Network");
    await go(tether);
    await button("Verify report 0").click();
    await see(/^Block \d+ of rinkeby/);
    await see(/Enough for/);
    await page.getByLabel("Ether").fill("2");
    await button("Fund on rinkeby").click();
    await see(/now owns 2\.99/);
    expect(await violations(page)).toEqual([]);
  });

  test("a key is created, shown once, works, and is revoked", async () => {
    await go("API keys");
    await page.getByLabel("Name").fill("ci");
    await button("Make a key").click();
    const key = (await page.locator(".secret code").textContent())!;
    const authorization = `Bearer ${key}`;
    const status = async () => (await fetch(`${served.baseUrl}/consortia`, { headers: { authorization } })).status;
    expect(await status()).toBe(200);
    expect(await violations(page)).toEqual([]);
    // Escape and other pages do not lose it, and leaving the console asks for confirmation.
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.evaluate("location.hash = '#/'");
    await page.getByRole("heading", { level: 1, name: "Network" }).waitFor({ state: "attached" });
    const asked = page.waitForEvent("dialog");
    await page.evaluate("void setTimeout(() => location.reload())"); // a reload of Playwright's would wait for its end
    const question = await asked;
    expect(question.type()).toBe("beforeunload");
    await question.dismiss();
    expect(await page.locator(".secret code").textContent()).toBe(key);
    await button("I have kept it").click();
    await go("API keys");
    await button("Revoke ci").click();
    await button("Keep it").click();
    expect(await status()).toBe(200);
    await button("Revoke ci").click();
    await button("Revoke the key").click();
    await see("No further keys.");
    expect(await status()).toBe(401);
    expect(await page.content()).not.toContain(key);
  });

  test("a tether is ordered, and can be used", async () => {
    await go("Network");
    await page.locator(".drawing svg").first().waitFor();
    await button("Order a tether").click();
    const ordered = page.getByRole("status").getByRole("link");
    const id = (await ordered.or(page.locator(".problem")).first().textContent())!;
    expect(id).not.toContain(" "); // an id, and not what went wrong
    expect((await served.send("GET", `/tether/${id}/reportCount`)).text).toBe("0");
    await page.getByRole("region", { name: "Tethers" }).getByText(id).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test("a fault hits the next call, and the log shows it; the console's own calls are not affected", async () => {
    await go("Faults and calls");
    await page.getByLabel("Route").selectOption("/consortia");
    await button("Add the fault").click();
    await see("0 of 0");
    expect((await served.send("GET", "/consortia")).status).toBe(503);
    expect((await served.send("GET", "/consortia")).status).toBe(200);
    await page.getByRole("row", { name: /GET \/consortia 503/ }).waitFor();
    await see("1 of 2");
    await button(/Remove fault/).click();
    await see(/^None:/);
    expect(await violations(page)).toEqual([]);
  });

  test("it works by keyboard, on a phone, in dark mode (nothing overflows: many.test.ts)", async () => {
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await page.setViewportSize({ width: 360, height: 700 });
    for (const name of ["Stacks", "API keys", "Faults and calls", "Network", "test"]) {
      const link = page.getByRole("link", { name, exact: true }).first();
      await link.focus();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: name.replace(/ and .*/, "") }).waitFor();
    }
  });

  test("an unknown or malformed address shows an error", async () => {
    for (const hash of ["#/%", "#/environments/nope", "#/constructor"]) {
      await page.goto(page.url().replace(/#.*|$/, hash));
      await page.getByRole("heading", { level: 1, name: "There is nothing here" }).waitFor();
      await page.goto(page.url().replace(/#.*/, "#/"));
      await page.getByRole("heading", { level: 1, name: "Network" }).waitFor();
    }
  });

  test("signing out ends every page of the session", async () => {
    const other = await browser.context.newPage();
    await other.goto(page.url());
    await other.getByRole("heading", { level: 1 }).waitFor();
    await button("Sign out").click();
    for (const one of [page, other]) await one.getByText("You are signed out").waitFor();
    expect(browser.complaints).toEqual([]);
    expect((await page.goto(page.url().replace(/#.*/, "")))!.status()).toBe(401);
  });
});
