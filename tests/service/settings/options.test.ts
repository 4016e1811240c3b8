import { readFileSync } from "node:fs";
import { startService, type ServiceOptions } from "../../../service/index";
import { apiQuirks, callLimits, limits, timing } from "../../../service/settings/settings";
import { anyText, client, matching, start } from "../helpers";

test.each([
  [{ prot: 1 }, /startService options: .*"prot"/],
  [{ port: -1 }, /port: /],
  [{ port: 70_000 }, /port: /],
  [{ host: "" }, /host: /],
  [{ organizations: [] }, /organizations: /],
  [{ organizations: [{ name: "a" }, { name: "a" }] }, /organizations: each name must be different/],
  [{ organizations: [{ name: "a", apiKey: "with space" }] }, /organizations.0.apiKey: must be visible characters/],
  [{ organizations: ["a", "b"].map((name) => ({ name, apiKey: "k" })) }, /b cannot use the API key of a/],
  [{ tethers: [{ id: "a/b" }] }, /tethers.0.id: must be letters/],
  [{ tethers: [{ id: "t" }, { id: "t" }] }, /tethers: each id must be different/],
  [{ tethers: [{ id: "t", organization: "nobody" }] }, /tether t names an unknown organization, nobody/],
  [{ tethers: [{ id: "t", funds: { rinkeby: "1.5" } }] }, /funds.rinkeby: must be a whole number of wei/],
  [{ data: "/a", dataDir: "/b" }, /data and dataDir name two folders/],
  [{ limits: { nodes: -1 } }, /limits.nodes: /],
  [{ timing: { nodeStart: -1 } }, /timing.nodeStart: /],
  [{ timing: { tetherHour: 0 } }, /timing.tetherHour: /],
  [{ answers: { gone: 200 } }, /answers.gone: /],
  [{ answers: { created: 199 } }, /answers.created: /],
  [{ answers: { created: 300 } }, /answers.created: /],
  [{ answers: { patch: 399 } }, /answers.patch: /],
  [{ answers: { patch: 600 } }, /answers.patch: /],
  [{ answers: { deleted: { node: 404 } } }, /answers.deleted.node: /],
  [{ ledger: { idleAfter: -1 } }, /ledger/],
  [{ ledger: { anvil: "/nowhere/anvil" } }, /\/nowhere\/anvil/],
  [{ clock: 5 }, /clock: must be a function/],
])("%j is refused with a one-sentence reason", async (options, message) => {
  const refusal = { code: "invalid-setting", message: matching(message) };
  await expect(startService(options as ServiceOptions)).rejects.toMatchObject(refusal);
});

test("an error names five values, and how many more there are", async () => {
  const bad = { environmentStart: -1, nodeStart: -1, upgrade: -1, deletedVisible: -1, deleting: -1 };
  await expect(startService({ timing: bad })).rejects.toThrow(/(timing\.\w+: [^;]*; ){4}timing\.\w+: [^;]*$/);
  const more = { ...bad, listLag: -1, latency: -1 };
  await expect(startService({ timing: more })).rejects.toThrow(/(timing\.\w+: [^;]*; ){5}and 2 more/);
});

test("the outermost statuses are taken", () => {
  for (const given of [
    { created: 200, patch: 400 },
    { created: 299, patch: 599 },
  ] as const)
    expect(apiQuirks.parse(given)).toMatchObject(given);
});

test("undefined options get their defaults", async () => {
  const none = { port: undefined, timing: { nodeStart: undefined }, answers: { deleted: undefined } };
  const { service } = await start(none);
  expect(service.timing.nodeStart).toBe(1_500);
  expect(service.answers.deleted.node).toBe(204);
});

test("each default is the one that its description promises", () => {
  const source = readFileSync("service/settings/settings.ts", "utf8");
  const described = source.matchAll(/Default ([^\s.;:]+(?: [KM]iB)?)[^/]*?\*\/\s+(\w+):/g);
  const promised = [...described].map(([, text = "", name = ""]) => {
    const bytes = { KiB: 1_024, MiB: 1_048_576 }[text.split(" ")[1] ?? ""] ?? 1;
    const number = Number(text.split(" ")[0]!.replaceAll(",", "")) * bytes;
    return [name, Number.isNaN(number) ? text.replaceAll("`", "") : String(number)];
  });
  const { deleted, quorumLedger, ...simple } = apiQuirks.parse({});
  const parts = [simple, timing.parse({}), limits.parse({}), callLimits.parse({})];
  const all = parts.flatMap((part) => Object.entries(part)).map(([name, value]) => [name, String(value)]);
  expect(promised).toEqual(all);
  expect(quorumLedger).toEqual({ clock: "seconds" });
  const { consortium, environment, ...others } = deleted;
  expect([consortium, environment, new Set(Object.values(others))]).toEqual([202, 202, new Set([204])]);
});

test("the addresses are consistent, and each service has a new key", async () => {
  const { service } = await start();
  const other = await start();
  expect(service.url).toBe(`http://127.0.0.1:${service.port}`);
  expect(service.baseUrl).toBe(`${service.url}/api/v1`);
  expect(service.organizations).toEqual([{ id: anyText, name: "local", apiKey: service.apiKey }]);
  expect(other.service.apiKey).not.toBe(service.apiKey);
  expect((await client(other.service.baseUrl, service.apiKey)("GET", "/consortia")).status).toBe(401);
});
