import { allowedRegions, withSettings } from "../../sdk/policy";
import { setEnvironment } from "../support/service";
import { judge } from "./support/host";
import { Plan, unknown } from "./support/plan";

const policy = withSettings(allowedRegions, {
  enforcementLevel: "mandatory",
  regions: ["eu", "ap"],
  hosts: ["eu.proxy.example"],
});

const mend = "Set region to eu or ap: as an argument of the Provider, or with `pulumi config set consortium:region`.";

/** Settings of the default provider (stack configuration), of the environment, of an explicit `Provider`. */
interface Given {
  stack?: Record<string, string>;
  env?: Record<string, string>;
  own?: Record<string, string>;
}

const given: [string, Given, string | undefined][] = [
  ["eu by stack configuration", { stack: { region: "eu" } }, undefined],
  ["us by default", {}, `The default provider works in region us. ${mend}`],
  ["ko by stack configuration", { stack: { region: "ko" } }, `The default provider works in region ko. ${mend}`],
  ["the environment wins", { stack: { region: "ko" }, env: { CONSORTIUM_REGION: "eu" } }, undefined],
  ["a Provider's own region", { own: { apiKey: "k", region: "us" } }, `Provider "acme" works in region us. ${mend}`],
  [
    "a Provider's own region wins over the environment",
    { own: { region: "ap" }, env: { CONSORTIUM_REGION: "ko" } },
    undefined,
  ],
  [
    "the service's address says more than a region",
    { own: { baseUrl: "https://console-eu.kaleido.io/api/v1" } },
    undefined,
  ],
  [
    "the address of the default region",
    { own: { region: "eu", baseUrl: "https://console.kaleido.io/api/v1" } },
    `Provider "acme" works in region us. ${mend}`,
  ],
  ...[
    ["a proxy of one's own", "https://proxy.acme.example/api/v1", "proxy.acme.example"],
    ["a trailing dot", "https://console-eu.kaleido.io./api/v1", "console-eu.kaleido.io."],
    ["a lookalike", "https://console-eu.kaleido.io.acme.example/api/v1", "console-eu.kaleido.io.acme.example"],
    ["this machine", "http://127.0.0.1:4280/api/v1", "127.0.0.1"],
  ].map(([what, baseUrl, host]): [string, Given, string] => [
    `${what} is none of the known hosts, whatever region is set`,
    { own: { region: "eu", baseUrl: baseUrl! } },
    `Provider "acme" uses the host ${host}, whose region is not known. If it is in an allowed region, add it ` +
      "to the setting hosts of this policy; otherwise remove baseUrl.",
  ]),
  ["a host that the policy's settings name", { own: { baseUrl: "https://eu.proxy.example/api/v1" } }, undefined],
  ["an unknown region", { own: { region: unknown } }, undefined],
  ["a region that does not exist is for the run to say", { own: { region: "moon" } }, undefined],
];

describe.each(["dynamic", "plugin"])("on the %s provider", (adapter) => {
  test.each(given)("%s", async (_, { stack = {}, env = {}, own }, message) => {
    setEnvironment({ CONSORTIUM_API_KEY: undefined, ...env });
    const plan = new Plan("test", false, adapter === "plugin");
    plan.configure(stack);
    plan.add("Consortium", "c", {}, own && { provider: plan.provider("acme", own) });
    const about = own ? "acme" : (expect.stringMatching(/^default/) as string);
    expect(await judge([policy], plan)).toEqual(
      message === undefined ? [] : [{ policy: "allowed-regions", level: "mandatory", message, about }],
    );
  });
});

test("each provider instance once, and only if it is used for these resources", async () => {
  const plan = new Plan();
  const acme = plan.provider("acme", { region: "us" });
  plan.provider("unused", { region: "us" });
  for (const name of ["a", "b"]) plan.add("Consortium", name, {}, { provider: acme });
  expect(await judge([policy], plan)).toHaveLength(1);
});

test("it is disabled by default, and then allows all regions", async () => {
  const plan = new Plan();
  plan.add("Consortium", "c");
  expect(allowedRegions.enforcementLevel).toBe("disabled");
  expect(await judge([withSettings(allowedRegions, "mandatory")], plan)).toEqual([]);
});
