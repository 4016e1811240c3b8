import { inspect } from "node:util";
import {
  ApiKey,
  resolveSettings,
  type SettingName,
  SettingsError,
  type SettingSources,
} from "../../../provider/api/settings";

describe("given values and the environment", () => {
  const env = {
    CONSORTIUM_API_KEY: "key-e",
    CONSORTIUM_BASE_URL: "https://e/api/v1",
    CONSORTIUM_MAX_CONCURRENCY: "2",
    CONSORTIUM_ORGANIZATION: "org-e",
  };
  const given = { apiKey: "key-g", baseUrl: "https://g/api/v1", maxConcurrency: 3, organization: "org-g" };
  const shown = (sources: SettingSources): unknown[] => {
    const { apiKey, baseUrl, baseUrlSource, maxConcurrency, organization } = resolveSettings(sources);
    return [apiKey.reveal(), apiKey.source, baseUrl, baseUrlSource, maxConcurrency, organization];
  };
  const ofEnv = [
    ...["key-e", "environment variable CONSORTIUM_API_KEY"],
    ...["https://e/api/v1", "environment variable CONSORTIUM_BASE_URL"],
    2,
    { id: "org-e", source: "environment variable CONSORTIUM_ORGANIZATION" },
  ];
  const organization = { id: "org-g", source: "the given settings" };
  const ofGiven = ["key-g", "the given settings", "https://g/api/v1", "the given settings"];

  test.each<[string, SettingSources, unknown[]]>([
    ["the environment alone", { env }, ofEnv],
    ["given values alone", { env: {}, given }, [...ofGiven, 3, organization]],
    ["both: given ones decide about the organization", { env, given }, [...ofGiven, 2, organization]],
    ["empty ones are none", { env, given: { apiKey: "", baseUrl: null, organization: undefined } }, ofEnv],
  ])("%s", (_, sources, expected) => expect(shown(sources)).toEqual(expected));

  test("an unknown one is refused, without its value", () => {
    const given = { apikey: "secret-key" } as SettingSources["given"];
    expect(() => resolveSettings({ env, given })).toThrow(
      new SettingsError(
        "unknown-setting",
        'There is no setting "apikey". The settings are apiKey, region, baseUrl, maxConcurrency, requestTimeout, allowHttp, organization, log, logLevel.',
      ),
    );
  });

  test("without sources it is this process's environment", () => {
    process.env.CONSORTIUM_API_KEY = "from-process";
    expect(resolveSettings().apiKey.reveal()).toBe("from-process");
    delete process.env.CONSORTIUM_API_KEY;
    expect(() => resolveSettings()).toThrow(SettingsError);
  });
});

test.each([
  ["us", "https://console.kaleido.io/api/v1"],
  ["eu", "https://console-eu.kaleido.io/api/v1"],
  ["ap", "https://console-ap.kaleido.io/api/v1"],
  ["ko", "https://console-ko.kaleido.io/api/v1"],
])("region %s is at %s", (region, baseUrl) => {
  expect(resolveSettings({ env: {}, given: { apiKey: "k", region } })).toMatchObject({ region, baseUrl });
});

test.each(["http://127.0.0.1:4000/api/v1", "https://proxy.example/consortium/api/v1", "http://[::1]:4000/api/v1"])(
  "%s is a valid address, also with a slash or spaces at its end",
  (baseUrl) => {
    for (const given of [baseUrl, `${baseUrl}/`, `${baseUrl}//`, ` ${baseUrl} `]) {
      expect(resolveSettings({ env: {}, given: { apiKey: "k", baseUrl: given } }).baseUrl).toBe(baseUrl);
    }
  },
);

describe("an unusable value is refused in one sentence, with its source", () => {
  test.each<[SettingName, unknown, RegExp]>([
    ["baseUrl", "console.kaleido.io", /is not an address/],
    ["baseUrl", "ftp://x/api/v1", /starts with ftp:\/\//],
    ["baseUrl", "https://me:pass@x/api/v1", /holds a user name or password; the API key goes into apiKey/],
    ["baseUrl", "https://:pass@x/api/v1", /holds a user name or password/],
    ["baseUrl", "https://x/api/v1?a=1", /has a query or fragment/],
    ["baseUrl", "https://x/api/v1#a", /has a query or fragment/],
    ["baseUrl", "https://x/api/v2", /has the path "\/api\/v2"/],
    ["baseUrl", "https://x", /ends in \/api\/v1, such as https:\/\/console.*has the path "\/"/],
    ["region", "mars", /setting region .*must be one of us, eu, ap, ko, us1, eu1, not "mars"/],
    ["maxConcurrency", "0", /setting maxConcurrency .* must be a whole number from 1 to 256\.$/],
    ["maxConcurrency", "1.5", /setting maxConcurrency .* must be a whole number from 1 to 256\.$/],
    ["maxConcurrency", "257", /setting maxConcurrency .* must be a whole number from 1 to 256\.$/],
    ["requestTimeout", "0", /setting requestTimeout .* must be a number of seconds above 0, at most 3600\.$/],
    ["requestTimeout", "3601", /setting requestTimeout .* must be a number of seconds above 0, at most 3600\.$/],
    ["allowHttp", "perhaps", /setting allowHttp .*true or false/],
    ["apiKey", "two words", /setting apiKey .*no spaces, line breaks/],
    ["apiKey", "line\nbreak", /setting apiKey .*no spaces, line breaks/],
  ])("%s %j", (name, value, why) => {
    const resolve = (): unknown => resolveSettings({ env: {}, given: { apiKey: "k", [name]: value } });
    expect(resolve).toThrow(SettingsError);
    expect(resolve).toThrow(why);
    expect(resolve).toThrow(/ from the given settings /);
  });

  test("no key: says where to set one", () => {
    expect(() => resolveSettings({ env: {} })).toThrow(
      /^Set the environment variable CONSORTIUM_API_KEY, or give apiKey\. No API key is set\. .*console/,
    );
  });

  test.each(["pass word", "https://me:hidden@x/api/v1"])("the value %s itself is not shown", (value) => {
    const name = value.startsWith("http") ? "baseUrl" : "apiKey";
    expect(() => resolveSettings({ env: {}, given: { apiKey: "k", [name]: value } })).not.toThrow(/pass word|hidden/);
  });
});

describe("a base address that begins with http://", () => {
  const resolve = (host: string, more: Record<string, unknown> = {}): string =>
    resolveSettings({ env: {}, given: { apiKey: "k-secret", baseUrl: `http://${host}/api/v1`, ...more } }).baseUrl;

  test.each([
    ...["127.0.0.1", "127.0.0.1:4000", "127.8.9.10", "127.1", "[::1]:4000"],
    ...["localhost", "LOCALHOST:4000", "localhost.", "api.localhost"],
  ])("%s is this machine", (host) => expect(resolve(host)).toBe(`http://${host}/api/v1`));

  test.each([
    ...["service", "10.0.0.1", "128.0.0.1", "0.0.0.0", "[::2]", "[::ffff:10.0.0.1]", "console.kaleido.io"],
    ...["localhost.example", "notlocalhost", "127.0.0.1.example", "mylocalhost:4000"],
  ])("%s is refused, unless that is allowed", (host) => {
    expect(() => resolve(host)).toThrow(SettingsError);
    expect(() => resolve(host)).toThrow(
      /^Use https:.*CONSORTIUM_ALLOW_HTTP=true, or give allowHttp: true.*The base address http:.* from the given settings begins with http:\/\/ /,
    );
    expect(() => resolve(host)).not.toThrow(/k-secret/);
    expect(() => resolve(host, { allowHttp: "false" })).toThrow(SettingsError);
    for (const allowHttp of ["true", true, "yes", "1"]) expect(resolve(host, { allowHttp })).toContain(host);
  });
});

describe("a proxy", () => {
  const proxy = (baseUrl: string, env: Record<string, string>): unknown =>
    resolveSettings({ env, given: { apiKey: "k", baseUrl, allowHttp: true } }).proxy;
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

test("a key cannot be printed by accident", () => {
  const key = new ApiKey("secret-key", "a test", "stack");
  for (const shown of [String(key), JSON.stringify({ key }), `${inspect(key, { depth: 9, showHidden: true })}`]) {
    expect(shown).not.toContain("secret-key");
  }
  expect(key.reveal()).toBe("secret-key");
});
