import { environmentName } from "../../../provider/api/environment";
import { type SettingName, settingNames, type Settings, SettingsError } from "../../../provider/api/settings";
import {
  adoptsAll,
  isDefaultProvider,
  pulumiAdvice,
  resolveProviderSettings,
  settingsIn,
  settingVariables,
  type ProviderSettings,
} from "../../../provider/pulumi/settings";

const env = (values: Partial<Record<SettingName, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [environmentName(name), value]));

/** Settings as a provider has them: its own in place of the stack's. */
function settingsOf(provider: object = {}, stack: object = {}): ProviderSettings {
  const all = [Object.entries(stack), Object.entries(provider)] as [string, unknown][][];
  const [theirs, own] = all.map((some, index) => some.map(([name, value]) => [name, { value, own: index === 1 }]));
  return Object.fromEntries([...theirs!, ...own!]) as ProviderSettings;
}

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
  log: {
    env: ["e.log", { file: "e.log", source: "environment variable CONSORTIUM_LOG" }],
    provider: ["p.log", { file: "p.log", source: "argument log of the Provider" }],
    stack: ["s.log", { file: "s.log", source: "stack configuration consortium:log" }],
  },
  logLevel: { env: ["errors", "errors"], provider: ["calls", "calls"], stack: ["bodies", "bodies"] },
};
const defaults = {
  region: "us",
  baseUrl: "https://console.kaleido.io/api/v1",
  maxConcurrency: 8,
  requestTimeout: 30,
  allowHttp: false,
  logLevel: "bodies",
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
    const stack = { ...(name === "apiKey" ? {} : { apiKey: "key" }), ...text("stack") };
    const resolve = (): Settings => resolveProviderSettings(settingsOf(text("provider"), stack), env(text("env")));
    const order = held.includes(name) ? (["provider", "env", "stack"] as const) : places;
    const winner = order.find((place) => subset.includes(place));
    if (name === "apiKey" && !winner) return expect(resolve).toThrow(SettingsError);
    const settings = resolve();
    const value = name === "apiKey" ? settings.apiKey.reveal() : settings[name];
    expect(value).toEqual(winner ? given[name][winner][1] : defaults[name as keyof typeof defaults]);
  });

  test.each(settingNames)("%s: empty text and null are not given", (name) => {
    const shown = (settings: Settings): unknown => (name === "apiKey" ? settings.apiKey.reveal() : settings[name]);
    const [ofStack, stack] = given[name].stack;
    const stacks = settingsOf({}, { apiKey: "key", [name]: ofStack });
    expect(shown(resolveProviderSettings(stacks, env({ [name]: "" })))).toEqual(stack);
    const [ofEnv, environment] = given[name].env;
    for (const none of ["", null]) {
      const own = settingsOf({ apiKey: "key", [name]: none });
      expect(shown(resolveProviderSettings(own, env({ [name]: ofEnv })))).toEqual(environment);
    }
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
      "CONSORTIUM_LOG",
      "CONSORTIUM_LOG_LEVEL",
    ]);
  });

  test.each(["http", "https"])("no other variables are looked at (base address with %s)", (scheme) => {
    const looked = new Set<string>();
    const given = env({ apiKey: "key", baseUrl: `${scheme}://localhost/api/v1` });
    const spied = new Proxy(given, {
      get: (all, name: string) => {
        looked.add(name);
        return all[name];
      },
    });
    resolveProviderSettings({}, spied);
    adoptsAll({}, spied);
    expect(settingVariables).toEqual(expect.arrayContaining([...looked]));
    expect(looked.size).toBeGreaterThan(settingNames.length);
  });
});

describe("adopt, which is not about the connection", () => {
  test.each([
    ["Yes", "false", "perhaps", true],
    ["", "false", "perhaps", false],
    [undefined, undefined, "1", true],
    [undefined, undefined, undefined, false],
  ])("first match wins: environment %j, Provider %j, stack %j", (variable, own, stack, adopt) => {
    const settings = settingsOf(own === undefined ? {} : { adopt: own }, { adopt: stack });
    expect(adoptsAll(settings, { CONSORTIUM_ADOPT: variable })).toBe(adopt);
  });

  test("a value other than true and false is refused", () =>
    expect(() => adoptsAll(settingsOf({}, { adopt: "ture" }), {})).toThrow(
      "The setting adopt from stack configuration consortium:adopt must be true or false.",
    ));
});

describe("sources, for error messages", () => {
  test.each([
    [{}, env({ apiKey: "k" }), "environment variable CONSORTIUM_API_KEY"],
    [settingsOf({ apiKey: "k" }), {}, "argument apiKey of the Provider"],
    [settingsOf({}, { apiKey: "k" }), {}, "stack configuration consortium:apiKey"],
  ])("the key: %#", (settings, env, source) =>
    expect(resolveProviderSettings(settings, env).apiKey.source).toBe(source),
  );

  test.each([
    [{}, "the default for region us"],
    [{ region: "eu" }, "the default for region eu"],
    [{ baseUrl: "https://s/api/v1" }, "stack configuration consortium:baseUrl"],
  ])("the address: %j", (stack, source) =>
    expect(resolveProviderSettings(settingsOf({}, { apiKey: "k", ...stack }), {}).baseUrlSource).toBe(source),
  );

  test("a key that a fleet has put into the environment is known by its place in the fleet file", () => {
    const source = "apiKey of the organization acme";
    const { apiKey } = resolveProviderSettings({}, { CONSORTIUM_API_KEY: "k", CONSORTIUM_API_KEY_SOURCE: source });
    expect(apiKey).toMatchObject({ source, place: "fleet" });
    expect(pulumiAdvice.useKeyOf("o1", apiKey)).toBe("Correct the fleet file: the key must belong to o1.");
  });
});

const values = { apiKey: "k", region: "eu" };
test.each<[string, unknown, string, boolean, [apiKey: boolean, region: boolean]]>([
  ["an SDK that is generated from the schema", "true", "default", false, [true, true]],
  ["a provider that no SDK made, as the plugin found out", true, "acme", false, [true, true]],
  ["the engine's provider", false, "default_0_3_0", true, [false, false]],
  ["the class Provider", "apiKey", "acme", false, [true, false]],
  ["the class Provider with a name like the engine's", "apiKey,region", "default", false, [true, true]],
  ["a class without arguments", "", "default_0_3_0", true, [false, false]],
  ["none that says it", undefined, "acme", false, [true, true]],
  ["none that says it, with the engine's name", undefined, "default_0_1_0", true, [false, false]],
])("which settings are a provider's own: %s: %j", (_, own, name, isDefault, [apiKey, region]) => {
  const inputs = { ...values, own };
  expect(isDefaultProvider(name, inputs)).toBe(isDefault);
  expect(settingsIn(inputs, name)).toEqual({
    apiKey: { value: "k", own: apiKey },
    region: { value: "eu", own: region },
  });
});

test.each([
  ["default", { region: "eu" }, true],
  ["default_0_3_0", { region: "eu" }, true],
  ["default", { region: "us" }, false],
  ["default", {}, false],
  ["default_", { region: "eu" }, false],
  ["defaults", { region: "eu" }, false],
  ["my-default", { region: "eu" }, false],
])("a provider %s of the stack's configuration %j is the engine's: %j", (name, stack, isDefault) => {
  expect(isDefaultProvider(name, { region: "eu" }, stack)).toBe(isDefault);
  expect(isDefaultProvider(name, { region: "eu", own: "false" }, stack)).toBe(true);
  expect(isDefaultProvider(name, { region: "eu", own: "region" }, stack)).toBe(false);
});
