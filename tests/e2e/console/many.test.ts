import type { Page, WebSocketRoute } from "playwright-core";
import { startService, type Service } from "../../../service/index";
import { temporary, writeIn } from "../../fleet/made";
import { client, FakeClock, type Send } from "../../service/helpers";
import { startPinning } from "../../support/network";
import { browse, openConsole, violations } from "../../console/browser";

type Browser = Awaited<ReturnType<typeof browse>>;

const tether = "t0mytether";

/** Written from right to left, as are the signs and digits beside it. */
const turning = "\u05d0";
/** The last character would turn what follows around. */
const name = `one ${turning}9 of 1\u202e`;

/** Names without spaces, and more members than are shown at first; then a consortium with 50 environments. */
async function buildMany(send: Send) {
  const made = async (path: string, body: object): Promise<string> => {
    const { status, text, body: shown } = await send("POST", path, body);
    if (status !== 201) throw new Error(`${path}: ${text}`);
    return shown._id ?? shown.id;
  };
  const wide = `/consortia/${await made("/consortia", { name: "x".repeat(70) })}`;
  await made("/consortia", { name: "東京都港区のコンソーシアム 🌐 한국어" });
  const members: string[] = [];
  for (let index = 0; index < 12; index++)
    members.push(await made(`${wide}/memberships`, { org_name: index === 0 ? "y".repeat(70) : `member ${index}` }));
  const kind = { provider: "geth", consensus_type: "poa" };
  const wideEnvironment = await made(`${wide}/environments`, { name: "z".repeat(70), ...kind });
  const insideWide = `${wide}/environments/${wideEnvironment}`;
  for (const membership_id of members.slice(0, 4))
    await made(`${insideWide}/nodes`, { membership_id, name: `${"n".repeat(60)} ${membership_id}` });
  await made(`${insideWide}/appcreds`, { membership_id: members[0] });
  await startPinning((path, body) => send("POST", path, body), tether);

  const consortiumId = await made("/consortia", { name, description: name });
  const within = `/consortia/${consortiumId}`;
  const membership_id = await made(`${within}/memberships`, { org_name: name });
  const environment = await made(`${within}/environments`, { name, ...kind });
  for (let index = 1; index < 50; index++) {
    const inside = await made(`${within}/environments`, { name: `environment ${index}`, ...kind });
    await made(`${within}/environments/${inside}/nodes`, { name: `node of ${index}`, membership_id });
  }
  const inside = `${within}/environments/${environment}`;
  for (let index = 0; index < 12; index++)
    await made(`${inside}/nodes`, { name: index === 0 ? name : `node ${index}`, membership_id });
  await made(`${inside}/appcreds`, { membership_id, name });
  await made(`${inside}/services`, { name, service: "documentstore", membership_id });
  await made(`${within}/invitations`, { org_name: name, email: "ops@third.example" });
  await made("/embedded/api-keys", { name });
  await made("/embedded/tethers", { environment: name });
  return { consortiumId, environment, wideEnvironment };
}

/** The export of a stack that has the environment, with another consensus. */
function exported({ consortiumId, environment: id }: { consortiumId: string; environment: string }): string {
  const inputs = { consortiumId, name, provider: "geth", consensusType: "clique" };
  const outputs = { ...inputs, __kept: { version: 2, asked: inputs } };
  const resources = [
    { urn: "urn:pulumi:prod::net::consortium:index:Environment::e", custom: true, id, inputs, outputs },
  ];
  return writeIn(temporary(), "stack.json", JSON.stringify({ deployment: { resources } }));
}

describe("the console of a large network", () => {
  let service: Service;
  let send: Send;
  let console: Awaited<ReturnType<typeof openConsole>>;
  let browser: Browser;
  let page: Page;
  let server: WebSocketRoute;
  let environment: string;
  let wide: string;

  beforeAll(async () => {
    const timing = { nodeStart: 0, tetherHour: 3_000 };
    const clock = new FakeClock();
    service = await startService({
      clock: clock.now,
      timing,
      limits: { consortia: 5, environments: 60, nodes: 12 },
      tethers: [{ id: tether, environment: "z".repeat(70) }],
    });
    send = client(service.baseUrl, service.apiKey);
    const made = await buildMany(send);
    [environment, wide] = [made.environment, made.wideEnvironment];
    clock.pass(120 * timing.tetherHour);
    console = await openConsole(service, "--stack-export", exported(made));
    browser = await browse();
    page = browser.context.pages()[0]!;
    await page.routeWebSocket(/\/live$/, (route) => {
      server = route;
      route.connectToServer();
    });
    await page.goto(console.link);
    await page.locator(".network-map").nth(2).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await console?.stop();
    await service?.close();
  });

  const phone = { width: 360, height: 740 };
  const desktop = { width: 1_200, height: 900 };
  const pages = (): [route: string, heading: string | RegExp][] => [
    ["", "Network"],
    [`environments/${environment}`, /^one /],
    [`environments/${wide}`, "z".repeat(70)],
    ["tethers", "Tethers"],
    [`tethers/${tether}`, tether],
    ["stacks", "Stacks"],
    ["keys", "API keys"],
    ["testing", "Faults and calls"],
  ];
  const visit = async (route: string) => {
    const [, name] = pages().find(([one]) => one === route)!;
    await page.evaluate(`location.hash = "#/${route}"`);
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await page.locator("main").filter({ hasNotText: "Looking …" }).waitFor();
  };
  const button = (label: string) => page.getByRole("button", { name: label, exact: true });
  const rowsOf = (label: string) => page.getByRole("region", { name: label }).locator("tbody tr");
  const first = (selector: string) => `document.querySelector(${JSON.stringify(selector)})`;
  const styleOf = (selector: string, name: string) =>
    page.evaluate<string>(`getComputedStyle(${first(selector)}).${name}`);

  test.each([
    ["a phone", phone, { colorScheme: "light" }],
    ["a screen in the dark", desktop, { colorScheme: "dark" }],
    ["a screen with forced colors", desktop, { colorScheme: "light", forcedColors: "active" }],
  ] as const)("on %s, nothing overflows, and axe finds nothing", async (_, size, media) => {
    await page.setViewportSize(size);
    await page.emulateMedia({ forcedColors: "none", ...media });
    for (const [route] of pages()) {
      await visit(route);
      const found = await page.evaluate<string[]>(`[...document.querySelectorAll("body *")]
        .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(".scroll, .skip"))
        .map((one) => one.outerHTML.slice(0, 100))`);
      expect([route, found, await violations(page)]).toEqual([route, [], []]);
    }
  });

  test("on a phone, each row of a table is a card, only the first members are shown, and no label is broken", async () => {
    await page.setViewportSize(phone);
    await visit("");
    const members = page.getByRole("region", { name: "Members" }).filter({ hasText: "member 1" });
    const box = first(".scroll:has(table)");
    expect(await page.evaluate(`(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(${box})`)).toBe(0);
    expect(await members.getByRole("row").count()).toBe(1 + 10);
    await page.getByRole("button", { name: "Show all 12" }).click();
    expect(await members.getByRole("row").count()).toBe(1 + 12);
    await members.getByRole("cell", { name: "y".repeat(70) }).waitFor();
    for (const route of ["tethers", "testing"]) {
      await visit(route);
      const broken = await page.evaluate<string[]>(`[...document.querySelectorAll(".line label > span")]
        .filter((one) => one.offsetHeight > 2 * parseFloat(getComputedStyle(one).fontSize))
        .map((one) => one.textContent)`);
      expect([route, broken]).toEqual([route, []]);
    }
    await page.setViewportSize(desktop);
  });

  test("a map fits its contents: neither cut off nor enlarged", async () => {
    await page.setViewportSize(desktop);
    await visit("");
    const sizes = await page.evaluate<{ cut: number; scale: number }[]>(`[...document.querySelectorAll(".drawing")]
      .map((one) => {
        const map = one.querySelector("svg");
        const scale = map.getBoundingClientRect().width / Number(map.getAttribute("width"));
        return { cut: one.scrollHeight - one.clientHeight, scale };
      })`);
    expect(sizes).toHaveLength(3);
    const outside = await page.evaluate<string[]>(`[...document.querySelectorAll(".network-map .item text")]
      .filter((text) => {
        const [own, box] = [text, text.parentNode.querySelector(".shape")].map((one) => one.getBBox());
        return own.x + own.width > box.x + box.width;
      })
      .map((text) => text.textContent)`);
    expect(outside).toEqual([]);
    for (const [index, { cut, scale }] of sizes.entries()) {
      if (index > 0) expect(cut).toBe(0); // the first one scrolls
      expect(scale).toBeLessThanOrEqual(1);
      expect(scale).toBeGreaterThanOrEqual(0.75);
    }
  });

  test("with forced colors, the current page is still visible", async () => {
    await page.emulateMedia({ forcedColors: "active" });
    expect(await styleOf('nav [aria-current="page"]', "outlineStyle")).toBe("solid");
    expect(await styleOf("nav a:not([aria-current])", "outlineStyle")).toBe("none");
    await page.emulateMedia({ forcedColors: "none" });
  });

  test("states and times are labeled, and a shortened hour is shown as such", async () => {
    await visit("");
    await page.locator(".state", { hasText: "set up" }).first().waitFor();
    await visit(`tethers/${tether}`);
    await page.getByText("1 hour, here 3 s").waitFor();
  });

  test("no name affects the writing direction of its neighbors", async () => {
    const beside = `(() => {
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const found = { names: 0, beside: [] };
      while (texts.nextNode()) {
        const { data, parentElement } = texts.currentNode;
        if (!data.includes("${turning}")) continue;
        found.names++;
        let box = parentElement;
        // each of these is a line of its own, also in a drawing
        const isLine = () => ["option", "text", "title"].includes(box.localName);
        while (!isLine() && !getComputedStyle(box).unicodeBidi.includes("isolate")) box = box.parentElement;
        if (box.textContent !== data) found.beside.push(box.outerHTML.slice(0, 200));
      }
      return found;
    })()`;
    for (const route of ["", `environments/${environment}`, "tethers", "keys"]) {
      await visit(route);
      const found = await page.evaluate<{ names: number; beside: string[] }>(beside);
      expect([route, found.beside]).toEqual([route, []]);
      expect([route, found.names > 0]).toEqual([route, true]);
      const source = await page.content();
      expect([route, source.includes("\u202e"), source.includes("\\u202e")]).toEqual([route, false, true]);
    }
  });

  test("the fullest limits are shown first, a full one is highlighted, and the rest is folded", async () => {
    await visit("");
    const limits = page.getByRole("list", { name: /^Limits used/ });
    expect(await limits.getByRole("listitem").count()).toBe(10);
    expect(await limits.getByRole("listitem").first().textContent()).toMatch(/12 of 12 · full$/);
    type Meter = { value: number; max: number; low: number };
    const meters = await limits
      .locator("meter")
      .evaluateAll((all) => (all as unknown as Meter[]).map(({ value, max, low }) => ({ value, max, low })));
    for (const { value, max, low } of meters) expect(value > low).toBe(value === max);
    await button("Show all 55").waitFor();
  });

  test("environments are a folded table, which can be searched by name, id and contents", async () => {
    await visit("");
    const label = "Environments of one";
    const search = page.getByLabel("Find in 50");
    const map = page.getByRole("region", { name: /^Map of one/ });
    expect((await map.boundingBox())!.height).toBeLessThanOrEqual(desktop.height); // the table is not far below
    await page.getByText("The map is larger than this window. It scrolls.").first().waitFor();
    expect(await rowsOf(label).count()).toBe(10);
    for (const [text, found, shown] of [
      ["environment 17", 1, 1],
      ["ENVIRONMENT 4", 11, 10],
      [environment, 1, 1],
      ["node of 23", 1, 1],
      ["nowhere", 0, 0],
    ] as const) {
      await search.fill(text);
      await page.getByRole("status").getByText(`${found} found`, { exact: true }).waitFor();
      expect([text, await rowsOf(label).count()]).toEqual([text, shown]);
    }
    await search.fill("");
    await button("Show all 50").click();
    expect(await rowsOf(label).count()).toBe(50);
    await page.getByRole("link", { name: "environment 17" }).first().click();
    await page.getByRole("heading", { level: 1, name: "environment 17" }).waitFor();
  });

  test("for twelve nodes, eight distinct lines are drawn, and the table shows the sizes of all", async () => {
    await visit(`environments/${environment}`);
    const lines = page.locator("figcaption path");
    await lines.nth(7).waitFor({ state: "attached" });
    const looks = await lines.evaluateAll((all) =>
      (all as { getAttribute(name: string): string }[]).map(
        (one) => one.getAttribute("stroke") + one.getAttribute("stroke-dasharray"),
      ),
    );
    expect([looks.length, new Set(looks).size]).toEqual([8, 8]);
    await page.getByText("The highest of 12 nodes, and the 7 that are farthest behind.").waitFor();
    const sizes = await rowsOf("Nodes").locator('[data-label="Size"]').allTextContents();
    expect(sizes).toEqual(Array.from({ length: 12 }, () => "small"));
  });

  test("what drifted is told with both values, where its stack is and where it is itself", async () => {
    for (const route of ["stacks", `environments/${environment}`]) {
      await visit(route);
      await page.getByText('consensusType is "poa", and "clique" in the stack').first().waitFor();
    }
  });

  test("reports are shown in pages", async () => {
    await visit(`tethers/${tether}`);
    const count = Number((await send("GET", `/tether/${tether}/reportCount`)).text);
    expect(count).toBeGreaterThan(100);
    const shows = async (first: number, last: number) => {
      await page.getByText(`${first} to ${last} of ${count} reports`).waitFor();
      await button(`Verify report ${last - 1}`).waitFor();
      expect(await page.getByRole("region", { name: "Reports" }).getByRole("row").count()).toBe(2 + last - first);
    };
    await shows(count - 49, count);
    for (let turn = 0; turn < 2; turn++) await button("Older").click();
    await shows(1, count - 100);
    expect(await button("Older").isDisabled()).toBe(true);
    await button("Newer").click();
    await shows(count - 99, count - 50);
  });

  test("calls can be searched by path and status, and an earlier page stays when new calls arrive", async () => {
    for (let index = 0; index < 60; index++) await send("GET", index % 6 === 0 ? "/consortia/nope" : "/consortia");
    await visit("testing");
    const path = page.getByLabel("Path");
    const status = page.getByLabel("Status").last();
    await path.fill("get /consortia/NOPE");
    const pager = page.getByText(/^\d+ to \d+ of \d+ calls$/);
    await pager.waitFor({ state: "detached" });
    await rowsOf("Calls").nth(9).waitFor();
    expect(await rowsOf("Calls").count()).toBe(10);
    await path.fill("");
    await pager.waitFor();
    await status.selectOption("4xx");
    await pager.waitFor({ state: "detached" });
    expect(await rowsOf("Calls").count()).toBe(10);
    await status.selectOption("no answer");
    await page.getByText("No matching calls.").waitFor();
    await status.selectOption("2xx");
    await path.fill("get /consortia");
    await page.getByText("1 to 25 of 50 calls").waitFor();
    await button("Older").click();
    await page.getByText("26 to 50 of 50 calls").waitFor();
    await send("GET", "/consortia");
    await page.getByText("27 to 51 of 51 calls").waitFor();
    await button("Newer").click();
    await page.getByText("2 to 26 of 51 calls").waitFor();
    await button("Newer").click();
    await page.getByText("1 to 25 of 51 calls").waitFor();
  });

  test("a slow service is shown as slow, with the age of the data, not as an outage", async () => {
    await visit("");
    const says = (text: RegExp) => page.getByRole("status").filter({ hasText: text }).first().waitFor();
    await says(/live$/);
    const shown = await page.locator("header time").getAttribute("title");
    expect(shown).toMatch(/^Last look at the service: \d/);
    server.send(JSON.stringify({ section: "network", late: true, since: Date.now() }));
    await says(/slow$/);
    await page.getByText(/^The service is slow to answer\. As of \d/).waitFor();
    expect(await page.locator(".old").count()).toBe(0);
    expect(await page.getByText("no connection").count()).toBe(0);
    expect(await violations(page)).toEqual([]);
  });

  test("a frozen console counts as no connection, although none was closed", async () => {
    const other = await browser.context.newPage();
    await other.clock.install();
    await other.goto(page.url().replace(/#.*/, "#/"));
    const says = (hasText: string) => other.getByRole("status").filter({ hasText }).first().waitFor();
    await other.locator(".network-map").first().waitFor();
    await says("live");
    console.signal("SIGSTOP");
    try {
      await other.clock.fastForward(20_000);
      await says("no connection");
    } finally {
      console.signal("SIGCONT");
    }
    await says("live");
    await other.close();
  });

  test("a revoked key, and then an outage, are shown on every page, and announced once", async () => {
    await visit(`environments/${wide}`);
    expect(await page.getByText(/no connection|key refused/).count()).toBe(0);
    expect(await styleOf(".content", "filter")).toBe("none");
    const told = page.getByRole("alert").filter({ hasText: /\w/ });
    const status = page.getByRole("status");
    service.rotateKey(service.organizations[0]!.name);
    await status.getByText("key refused").waitFor();
    await told.getByText(/^The service no longer accepts the API key of this console/).waitFor();
    expect(await page.getByText("no connection").count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await service.close();
    await status.getByText("no connection").waitFor();
    await status.getByText(/As of \d{1,2} \w+ \d{4}, \d\d:\d\d:\d\d [A-Z]/).waitFor();
    expect(await styleOf(".content", "filter")).toBe("grayscale(1)");
    for (const route of [`tethers/${tether}`, `environments/${wide}`, ""]) {
      await visit(route);
      expect(await told.count()).toBe(1);
    }
    expect(await told.locator("summary").textContent()).toBe("Details");
    expect(await violations(page)).toEqual([]);
    expect(browser.complaints).toEqual([]);
  });
});
