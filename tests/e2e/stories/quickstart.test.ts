import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { done, root } from "../support/stack";
import { canaryKey, tetherId, type World, world } from "../support/world";

let w: World;
beforeAll(async () => {
  w = await world({ example: "examples/quickstart" }, { config: { "quickstart:tetherId": tetherId } });
});

const leaks = (text: string, secrets: string[]): string[] => secrets.filter((secret) => text.includes(secret));

/** One story: each test goes on where the one before it ended. */
describe("the quickstart, through the real CLI", () => {
  let passwords: string[] = [];

  test("a preview creates nothing, and asks only whether the key is valid", async () => {
    const { code, text } = await w.stack.preview();
    expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining("12 to create") as string });
    expect(w.service.calls).toMatchObject([{ method: "GET", path: "/consortia" }]);
  });

  test("up builds the whole network and shows its outputs, but no secret", async () => {
    const result = await w.stack.up();
    expect(result).toMatchObject({ code: 0 });
    const outputs = await w.stack.outputs();
    expect(Object.values(outputs.rpcUrls as object)).toHaveLength(4);
    expect(outputs.tetherAccount).toMatch(/^0x[0-9a-f]{40}$/i);
    passwords = Object.values(outputs.passwords as Record<string, string>);
    expect(passwords.every((password) => password.length > 8)).toBe(true);
    const encoded = passwords.map((password, index) => {
      const username = Object.values(outputs.usernames as Record<string, string>)[index]!;
      return Buffer.from(`${username}:${password}`).toString("base64");
    });
    passwords.push(...encoded);
    expect(leaks(result.text, [canaryKey, ...passwords])).toEqual([]);
    expect(leaks(await w.stack.exported(), [canaryKey, ...passwords])).toEqual([]);
  });

  test("right after it, nothing is left to change, and a refresh finds no drift, with at most 8 requests", async () => {
    const { memberships, environments, nodes, appcreds } = await w.network();
    expect([memberships, appcreds].map(({ length }) => length)).toEqual([2, 2]);
    expect([...environments, ...nodes].map(({ state }) => state)).toEqual([
      "live",
      ...Array<string>(4).fill("started"),
    ]);
    w.service.clearCalls();
    await done(w.stack.preview({}, "--expect-no-changes"));
    expect(w.service.calls).toMatchObject([{ method: "GET", path: "/consortia" }]);
    w.service.clearCalls();
    const { text } = await done(w.stack.run(["refresh", "--preview-only", "--expect-no-changes"]));
    expect(w.service.calls.length).toBeLessThanOrEqual(8);
    expect(leaks(text, [canaryKey, ...passwords])).toEqual([]);
  });

  test("check and map read the stack through the Pulumi CLI, and show no secret", async () => {
    const run = async (...args: string[]): Promise<string> => {
      const options = { cwd: w.stack.folder, env: w.stack.env };
      return (await promisify(execFile)(process.execPath, [join(root, "dist/cli/consortium.js"), ...args], options))
        .stdout;
    };
    const checked = await run("check", "--stack", "test", "--json");
    const { results } = JSON.parse(checked) as { results: { check: string; outcome: string; text: string }[] };
    // This service has no chains: each node was called with the pair of its member all the same.
    const reachable = results.filter(({ check }) => check === "node reachable").map(({ text }) => text);
    expect(reachable).toEqual(Array(4).fill("the service runs no chain (HTTP 501)"));
    expect(results.filter(({ outcome }) => outcome === "failed" || outcome === "unseen")).toEqual([]);
    const mapped = await run("map", "--stack", "test", "--live");
    const titles = [...mapped.matchAll(/<title>((consortium|tether) [^<]*)/g)].map(([, title]) => title);
    expect(titles).toEqual(Array(2).fill(expect.stringContaining("managed by stack quickstart/test")));
    expect(mapped).not.toMatch(/mark-not-in-stacks"|mark-drift"/);
    expect(leaks(checked + mapped, [canaryKey, ...passwords])).toEqual([]);
  });

  test("destroy leaves nothing, children before parents", async () => {
    w.service.clearCalls();
    await done(w.stack.destroy());
    const deleted = w.service.calls
      .filter(({ method }) => method === "DELETE")
      .map(({ route }) => route.split("/").at(-2));
    // A membership may be asked for more than once: the service keeps it until its nodes are gone.
    expect(new Set(deleted)).toEqual(new Set(["appcreds", "nodes", "environments", "memberships", "consortia"]));
    expect(deleted.at(-1)).toBe("consortia");
    expect(await w.network()).toEqual({ consortia: [], memberships: [], environments: [], nodes: [], appcreds: [] });
    expect(await w.stack.resources()).toEqual([]);
  });
});
