import { inspect } from "node:util";
import { environmentName } from "../../../provider/api/environment";
import { keyRemedy } from "../../../provider/api/organization";
import {
  adoptsAll,
  ApiKey,
  resolveSettings,
  type SettingName,
  settingNames,
  SettingsError,
  type SettingSources,
} from "../../../provider/api/settings";

const env = (values: Partial<Record<SettingName, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [environmentName(name), value]));

/** A value for each setting and place, all different, and what is made of it. */
const given: Record<SettingName, Record<"env" | "provider" | "stack", [text: string, value: unknown]>> = {
  apiKey: { env: ["key-e", "key-e"], provider: ["key-p", "key-p"], stack: ["key-s", "key-s"] },
  region: { env: ["eu", "eu"], provider: ["ap", "ap"], stack: ["ko", "ko"] },
  baseUrl: {
    env: ["https://e/api/v1", "https://e/api/v1"],
    provider: ["https://p/api/v1", "https://p/api/v1"],
    stack: ["https://s/api/v1", "https://s/api/v1"],
  },
  maxConcurrency: { env: ["2", 2], provider: ["3", 3], stack: ["4", 4] },
  requestTimeout: { env: ["5.5", 5.5], provider: ["6", 6], stack: ["7", 7] },
  allowHttp: { env: ["true", true], provider: ["false", false], stack: ["1", true] },
  organization: {
    env: ["org-e", { id: "org-e", source: "environment variable CONSORTIUM_ORGANIZATION" }],
    provider: ["org-p", { id: "org-p", source: "argument organization of the Provider" }],
    stack: ["org-s", { id: "org-s", source: "stack configuration consortium:organization" }],
  },
};
const defaults = {
  region: "us",
  baseUrl: "https://console.kaleido.io/api/v1",
  maxConcurrency: 8,
  requestTimeout: 30,
  allowHttp: false,
};
const held = ["apiKey", "region", "baseUrl", "allowHttp", "organization"];
const places = ["env", "provider", "stack"] as const;
const subsets = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => places.filter((_, index) => bits & (1 << index)));

describe("first match wins: environment, explicit Provider, stack, default; a Provider's own key and place before all", () => {
  const table = settingNames.flatMap((name) =>
    subsets.map((subset) => [name, subset.join("+") || "nowhere", subset] as const),
  );
  test.each(table)("%s given in %s", (name, _title, subset) => {
    const text = (place: (typeof places)[number]): Record<string, string> =>
      subset.includes(place) ? { [name]: given[name][place][0] } : {};
    const sources: SettingSources = {
      env: env(text("env")),
      provider: text("provider"),
      stack: { ...(name === "apiKey" ? {} : { apiKey: "key" }), ...text("stack") },
    };
    const order = held.includes(name) ? (["provider", "env", "stack"] as const) : places;
    const winner = order.find((place) => subset.includes(place));
    if (name === "apiKey" && !winner) return expect(() => resolveSettings(sources)).toThrow(SettingsError);
    const settings = resolveSettings(sources);
    const value = name === "apiKey" ? settings.apiKey.reveal() : settings[name];
    expect(value).toEqual(winner ? given[name][winner][1] : defaults[name as keyof typeof defaults]);
  });

  test.each(settingNames)("%s: empty text and null are not given", (name) => {
    const sources = {
      env: env({ [name]: "" }),
      provider: { [name]: null },
      stack: { apiKey: "key", [name]: given[name].stack[0] },
    };
    const settings = resolveSettings(sources);
    expect(name === "apiKey" ? settings.apiKey.reveal() : settings[name]).toEqual(given[name].stack[1]);
  });

  test("the names of the environment variables", () => {
    expect(settingNames.map(environmentName)).toEqual([
      "CONSORTIUM_API_KEY",
      "CONSORTIUM_REGION",
      "CONSORTIUM_BASE_URL",
      "CONSORTIUM_MAX_CONCURRENCY",
      "CONSORTIUM_REQUEST_TIMEOUT",
      "CONSORTIUM_ALLOW_HTTP",
      "CONSORTIUM_ORGANIZATION",
    ]);
  });

  test("without sources it is this process's environment", () => {
    process.env.CONSORTIUM_API_KEY = "from-process";
    expect(resolveSettings().apiKey.reveal()).toBe("from-process");
    delete process.env.CONSORTIUM_API_KEY;
    expect(() => resolveSettings()).toThrow(SettingsError);
  });
});

describe("adopt, which is no part of the connection", () => {
  const given = { provider: { adopt: false }, stack: { adopt: "perhaps" } };
  test.each([
    [{ env: { CONSORTIUM_ADOPT: "Yes" }, ...given }, true],
    [{ env: { CONSORTIUM_ADOPT: "" }, ...given }, false],
    [{ env: {}, stack: { adopt: "1" } }, true],
    [{ env: {} }, false],
  ])("first match wins: %j", (sources, adopt) => expect(adoptsAll(sources)).toBe(adopt));

  test("what is neither yes nor no is refused, not taken for no", () =>
    expect(() => adoptsAll({ env: {}, stack: { adopt: "ture" } })).toThrow(
      "The setting adopt from stack configuration consortium:adopt must be true or false.",
    ));
});

describe("sources, for error messages", () => {
  test.each([
    [{ env: env({ apiKey: "k" }) }, "environment variable CONSORTIUM_API_KEY"],
    [{ env: {}, provider: { apiKey: "k" } }, "argument apiKey of the Provider"],
    [{ env: {}, stack: { apiKey: "k" } }, "stack configuration consortium:apiKey"],
  ])("the key: %#", (sources, source) => expect(resolveSettings(sources).apiKey.source).toBe(source));

  test.each([
    [{}, "the default for region us"],
    [{ region: "eu" }, "the default for region eu"],
    [{ baseUrl: "https://s/api/v1" }, "stack configuration consortium:baseUrl"],
  ])("the address: %j", (stack, source) =>
    expect(resolveSettings({ env: {}, stack: { apiKey: "k", ...stack } }).baseUrlSource).toBe(source),
  );
});

test.each([
  ["us", "https://console.kaleido.io/api/v1"],
  ["eu", "https://console-eu.kaleido.io/api/v1"],
  ["ap", "https://console-ap.kaleido.io/api/v1"],
  ["ko", "https://console-ko.kaleido.io/api/v1"],
])("region %s is at %s", (region, baseUrl) => {
  expect(resolveSettings({ env: {}, stack: { apiKey: "k", region } })).toMatchObject({ region, baseUrl });
});

test.each(["http://127.0.0.1:4000/api/v1", "https://proxy.example/consortium/api/v1", "http://[::1]:4000/api/v1"])(
  "%s is an address as it is, and with a slash or spaces at its end",
  (baseUrl) => {
    for (const given of [baseUrl, `${baseUrl}/`, `${baseUrl}//`, ` ${baseUrl} `]) {
      expect(resolveSettings({ env: {}, stack: { apiKey: "k", baseUrl: given } }).baseUrl).toBe(baseUrl);
    }
  },
);

describe("what is not usable is refused in one sentence, with its source", () => {
  test.each<[SettingName, unknown, RegExp]>([
    ["baseUrl", "console.kaleido.io", /is not an address/],
    ["baseUrl", "ftp://x/api/v1", /starts with ftp:\/\//],
    ["baseUrl", "https://me:pass@x/api/v1", /holds a user name or password; the API key goes into apiKey/],
    ["baseUrl", "https://x/api/v1?a=1", /has a query or fragment/],
    ["baseUrl", "https://x/api/v1#a", /has a query or fragment/],
    ["baseUrl", "https://x/api/v2", /has the path "\/api\/v2"/],
    ["baseUrl", "https://x", /has the path "\/".*ends in \/api\/v1, such as https:\/\/console/],
    ["region", "mars", /setting region .*must be one of us, eu, ap, ko, not "mars"/],
    ["maxConcurrency", "0", /setting maxConcurrency .* must be a whole number from 1 to 256\.$/],
    ["maxConcurrency", "1.5", /setting maxConcurrency .* must be a whole number from 1 to 256\.$/],
    ["maxConcurrency", "many", /setting maxConcurrency .* must be a whole number from 1 to 256\.$/],
    ["maxConcurrency", "257", /setting maxConcurrency .* must be a whole number from 1 to 256\.$/],
    ["requestTimeout", "0", /setting requestTimeout .* must be a number of seconds above 0, at most 3600\.$/],
    ["requestTimeout", "3601", /setting requestTimeout .* must be a number of seconds above 0, at most 3600\.$/],
    ["allowHttp", "perhaps", /setting allowHttp .*true or false/],
    ["apiKey", "two words", /setting apiKey .*no spaces, line breaks/],
    ["apiKey", "line\nbreak", /setting apiKey .*no spaces, line breaks/],
  ])("%s %j", (name, value, why) => {
    const resolve = (): unknown => resolveSettings({ env: {}, stack: { apiKey: "k", [name]: value } });
    expect(resolve).toThrow(SettingsError);
    expect(resolve).toThrow(why);
    expect(resolve).toThrow(`stack configuration consortium:${name}`);
  });

  test("no key: says where to set one", () => {
    expect(() => resolveSettings({ env: {} })).toThrow(
      /No API key is set\. .*CONSORTIUM_API_KEY.*pulumi config set --secret consortium:apiKey.*Provider.*console/,
    );
  });

  test.each(["pass word", "https://me:hidden@x/api/v1"])("the value %s itself is not shown", (value) => {
    const name = value.startsWith("http") ? "baseUrl" : "apiKey";
    expect(() => resolveSettings({ env: {}, stack: { apiKey: "k", [name]: value } })).not.toThrow(/pass word|hidden/);
  });
});

describe("a base address that begins with http://", () => {
  const resolve = (host: string, more: Record<string, unknown> = {}): string =>
    resolveSettings({ env: {}, stack: { apiKey: "k-secret", baseUrl: `http://${host}/api/v1`, ...more } }).baseUrl;

  test.each([
    ...["127.0.0.1", "127.0.0.1:4000", "127.8.9.10", "127.1", "[::1]:4000", "[::ffff:127.0.0.1]"],
    ...["localhost", "LOCALHOST:4000", "localhost.", "api.localhost"],
  ])("%s is this machine", (host) => expect(resolve(host)).toBe(`http://${host}/api/v1`));

  test.each([
    ...["service", "10.0.0.1", "128.0.0.1", "0.0.0.0", "[::2]", "[::ffff:10.0.0.1]", "console.kaleido.io"],
    ...["localhost.example", "notlocalhost", "127.0.0.1.example", "mylocalhost:4000"],
  ])("%s is refused, unless that is allowed", (host) => {
    expect(() => resolve(host)).toThrow(SettingsError);
    expect(() => resolve(host)).toThrow(
      /^The base address http:.* from stack configuration consortium:baseUrl begins with http:\/\/ .*key would cross the network in clear text.*https:.*consortium:allowHttp true.*CONSORTIUM_ALLOW_HTTP/,
    );
    expect(() => resolve(host)).not.toThrow(/k-secret/);
    expect(() => resolve(host, { allowHttp: "false" })).toThrow(SettingsError);
    for (const allowHttp of ["true", true, "yes", "1"]) expect(resolve(host, { allowHttp })).toContain(host);
  });
});

describe("a proxy", () => {
  const proxy = (baseUrl: string, env: Record<string, string>): unknown =>
    resolveSettings({ env, stack: { apiKey: "k", baseUrl, allowHttp: true } }).proxy;
  const [http, https] = ["http://service.example/api/v1", "https://service.example/api/v1"] as const;
  const at = (address: string, source: string, except = ""): object => ({ address, source, except });

  test.each<[string, Record<string, string>, unknown]>([
    [https, {}, undefined],
    [https, { HTTPS_PROXY: "" }, undefined],
    [https, { HTTPS_PROXY: "http://p:1" }, at("http://p:1", "HTTPS_PROXY")],
    [https, { HTTPS_PROXY: "http://p:1", https_proxy: "http://q:1" }, at("http://q:1", "https_proxy")],
    [https, { HTTP_PROXY: "http://p:1" }, at("http://p:1", "HTTP_PROXY")],
    [https, { HTTPS_PROXY: "p:1" }, at("http://p:1", "HTTPS_PROXY")],
    [http, { HTTPS_PROXY: "http://p:1" }, undefined],
    [http, { HTTPS_PROXY: "http://p:1", http_proxy: "https://q:1" }, at("https://q:1", "http_proxy")],
    [https, { HTTPS_PROXY: "http://p:1", NO_PROXY: "a,b" }, at("http://p:1", "HTTPS_PROXY", "a,b")],
    [https, { HTTPS_PROXY: "http://p:1", NO_PROXY: "a", no_proxy: "b" }, at("http://p:1", "HTTPS_PROXY", "b")],
    ["http://localhost:4000/api/v1", { HTTP_PROXY: "http://p:1" }, undefined],
    ["http://127.0.0.1:4000/api/v1", { HTTP_PROXY: "http://[::1]:1" }, at("http://[::1]:1", "HTTP_PROXY")],
  ])("for %s with %j", (baseUrl, env, expected) => expect(proxy(baseUrl, env)).toEqual(expected));

  test.each(["socks5://me:hidden@p:1", "http://", "me:hidden@p:1:2"])("%s is refused, and not shown", (address) => {
    expect(() => proxy(https, { HTTPS_PROXY: address })).toThrow(
      /^The proxy from environment variable HTTPS_PROXY must be an http\(s\) address, such as/,
    );
    expect(() => proxy(https, { HTTPS_PROXY: address })).not.toThrow(/hidden/);
  });
});

test("a key that a fleet has put into the environment is known by its place in the fleet file", () => {
  const source = "apiKey of the organization acme";
  const { apiKey } = resolveSettings({ env: { CONSORTIUM_API_KEY: "k", CONSORTIUM_API_KEY_SOURCE: source } });
  expect(apiKey).toMatchObject({ source, place: "fleet" });
  expect(keyRemedy("o1", apiKey)).toBe("Correct the fleet file: the key must belong to o1.");
});

test("a key cannot be printed by accident", () => {
  const key = new ApiKey("secret-key", "a test", "stack");
  for (const shown of [String(key), JSON.stringify({ key }), `${inspect(key, { depth: 9, showHidden: true })}`]) {
    expect(shown).not.toContain("secret-key");
  }
  expect(key.reveal()).toBe("secret-key");
});
