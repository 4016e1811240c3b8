import type { Page } from "playwright-core";
import { build, type World } from "../service/helpers";
import { browse, serve, type Served, violations } from "./browser";

jest.setTimeout(60_000);

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
  }, 300_000); // where there is no browser yet, it is installed
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

  test("its first picture of the network comes with what its server sends first", async () => {
    const first = page.waitForEvent("websocket").then((socket) => socket.waitForEvent("framereceived"));
    await page.reload();
    await page.getByRole("heading", { level: 2, name: "supply" }).waitFor();
    expect(String((await first).payload)).toContain('"supply"');
  });

  test("a node goes from initializing to started without a reload, and names are text", async () => {
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

  test("an environment shows heights, blocks, validators and the log", async () => {
    await go("test");
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

  test("a pin is verified on the chain itself, and an account is funded", async () => {
    const act = (action: string, body: object) => served.send("POST", `/tether/${tether}/${action}`, body);
    await act("targetNetwork", { network: "rinkeby" });
    await act("interval", { interval: 1 });
    for (const action of ["deploy", "activate"]) expect((await act(action, {})).status).toBe(200);
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

  test("a key is made, shown once, works, and is revoked", async () => {
    await go("API keys");
    await page.getByLabel("Name").fill("ci");
    await button("Make a key").click();
    const key = (await page.locator(".secret code").textContent())!;
    const authorization = `Bearer ${key}`;
    const status = async () => (await fetch(`${served.baseUrl}/consortia`, { headers: { authorization } })).status;
    expect(await status()).toBe(200);
    expect(await violations(page)).toEqual([]);
    await button("I have kept it").click();
    await button("Revoke ci").click();
    await see("No further keys.");
    expect(await status()).toBe(401);
    expect(await page.content()).not.toContain(key);
  });

  test("a tether is ordered, and can be used", async () => {
    await go("Network");
    await page.locator(".drawing svg").first().waitFor();
    await button("Order a tether").click();
    const ordered = page.getByRole("status").getByRole("link");
    const id = (await ordered.or(page.locator(".trouble")).first().textContent())!;
    expect(id).not.toContain(" "); // an id, and not what went wrong
    expect((await served.send("GET", `/tether/${id}/reportCount`)).text).toBe("0");
    await page.getByRole("region", { name: "Tethers" }).getByText(id).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test("a fault hits the next call, which the log shows; the console's own calls are spared", async () => {
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

  test("it is used by keyboard, at 360 pixels, in the dark", async () => {
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await page.setViewportSize({ width: 360, height: 700 });
    for (const name of ["Stacks", "API keys", "Faults and calls", "Network", "test"]) {
      const link = page.getByRole("link", { name, exact: true }).first();
      await link.focus();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: name.replace(/ and .*/, "") }).waitFor();
      expect(await violations(page)).toEqual([]);
      const wide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      expect([name, wide]).toEqual([name, 0]);
    }
  });

  test("an address that leads nowhere, or cannot be read, says so", async () => {
    for (const hash of ["#/%", "#/environments/nope", "#/constructor"]) {
      await page.goto(page.url().replace(/#.*|$/, hash));
      await page.getByRole("heading", { level: 1, name: "There is nothing here" }).waitFor();
      await page.goto(page.url().replace(/#.*/, "#/"));
      await page.getByRole("heading", { level: 1, name: "Network" }).waitFor();
    }
  });

  test("signing out ends it, for every page of the session", async () => {
    const other = await browser.context.newPage();
    await other.goto(page.url());
    await other.getByRole("heading", { level: 1 }).waitFor();
    await button("Sign out").click();
    for (const one of [page, other]) await one.getByText("You are signed out").waitFor();
    expect(browser.complaints).toEqual([]);
    expect((await page.goto(page.url().replace(/#.*/, "")))!.status()).toBe(401);
  });
});
