import { Consortium } from "../../../sdk";
import { Stack } from "../../support/double/stack";
import { setEnvironment } from "../../support/service";
import { onBothAdapters } from "../../support/stacks";

/* Advice for users of Pulumi. The client's own advice is in api/api-error.test.ts and api/settings.test.ts. */

const rows: [string, config: Record<string, string>, advice: string][] = [
  [
    "a refused key",
    { apiKey: "revoked" },
    "The API key from stack configuration consortium:apiKey was refused (URL): set a valid one, for " +
      "example in CONSORTIUM_API_KEY, which takes precedence; or add --run-program to destroy and refresh, which otherwise use the " +
      "settings of the last update.",
  ],
  ["a time-out", {}, "The service at URL may be having problems: run the same " + "command again later."],
  [
    "an unknown setting",
    { regoin: "eu" },
    'Stack configuration consortium:regoin is not a setting; did you mean "region"? Remove it with `pulumi config rm consortium:regoin`.',
  ],
];

onBothAdapters((make, adapter) => {
  test.each(rows)("%s", async (title, given, advice) => {
    const { service } = await make();
    setEnvironment({ CONSORTIUM_API_KEY: undefined, CONSORTIUM_BASE_URL: undefined });
    if (title === "a time-out") service.faults.add({ kind: "status", status: 503, times: Infinity });
    const settings = Object.entries({ apiKey: service.apiKey, baseUrl: service.baseUrl, ...given });
    const config = Object.fromEntries(settings.map(([name, value]) => [`consortium:${name}`, value]));
    const thrown: unknown[] = [];
    const { errors } = await new Stack(adapter, { config }).up(() => {
      try {
        new Consortium("c", {}, { customTimeouts: { create: "2s" } });
      } catch (error) {
        thrown.push(error); // the program itself would end with it
      }
    });
    const messages = [...errors, ...(thrown as Error[])].map(({ message }) => message);
    expect(messages.map((one) => one.replaceAll(service.baseUrl, "URL"))).toEqual([expect.stringContaining(advice)]);
  });
});
