import { ConsortiumClient, resolveSettings } from "../../../provider/api";
import { systemClock } from "../../../provider/api/clock";
import { Consortium, Membership, Provider } from "../../../sdk";
import { Stack } from "../../support/double/stack";
import { setEnvironment, start, type Started } from "../../support/service";

/* The same failure, told to those who use the client alone, and to those who use Pulumi. */

type Values = Record<string, string | undefined>;

interface Failure {
  /** What is wrong, with the settings that it takes, which a client is given, and a stack's configuration has. */
  begin(started: Started): Values;
  client: string;
  provider: string;
}

const timeOut = "no time is left to try again: the limit is 2 s";
const again = "may be having problems";

const failures: Record<string, Failure> = {
  "no key": {
    begin: () => ({ apiKey: undefined }),
    client:
      "No API key is set. Set the environment variable CONSORTIUM_API_KEY, or give apiKey. Create a key in the console (API tab, new " +
      "API key).",
    provider:
      "No API key is set. Set the environment variable CONSORTIUM_API_KEY, or run `pulumi config set --secret consortium:apiKey`, or " +
      "give apiKey to a Provider. Create a key in the console (API tab, new API key).",
  },
  "a refused key": {
    begin: () => ({ apiKey: "revoked" }),
    client: "The API key from the given settings was refused (URL): set a valid one there.",
    provider:
      "The API key from stack configuration consortium:apiKey was refused (URL): set a valid one, for " +
      "example in CONSORTIUM_API_KEY, which takes precedence; or add --run-program to destroy and refresh, which otherwise use the " +
      "settings of the last update.",
  },
  "a time-out": {
    begin({ service }) {
      service.faults.add({ kind: "status", status: 503, times: Infinity });
      return { apiKey: service.apiKey };
    },
    client: `${timeOut}. The service at URL ${again}: try again later.`,
    provider: `${timeOut} (customTimeouts). The service at URL ${again}: run the same command again later.`,
  },
  "an unknown setting": {
    begin: ({ service }) => ({ apiKey: service.apiKey, regoin: "eu" }),
    client:
      'There is no setting "regoin". The settings are apiKey, region, baseUrl, maxConcurrency, requestTimeout, allowHttp, organization.',
    provider:
      'Stack configuration consortium:regoin is not a setting; did you mean "region"? Remove it with `pulumi config rm consortium:regoin`.',
  },
};

/** Only the settings that are given count. */
async function begin(failure: Failure): Promise<{ given: Values; plain: (text: string) => string }> {
  const started = await start();
  setEnvironment({ CONSORTIUM_API_KEY: undefined, CONSORTIUM_BASE_URL: undefined });
  const { baseUrl } = started.service;
  const plain = (text: string): string => text.replaceAll(baseUrl, "URL");
  return { given: { baseUrl, ...failure.begin(started) }, plain };
}

describe.each(Object.entries(failures))("%s", (_, failure) => {
  test("in the client", async () => {
    const { given, plain } = await begin(failure);
    const call = async (): Promise<unknown> => {
      const client = new ConsortiumClient(resolveSettings({ given, env: {} }), { clock: systemClock });
      return client.until({ at: systemClock.now() + 2_000, limit: "2 s" }).listConsortia();
    };
    const error = await call().catch((thrown: unknown) => thrown as Error);
    expect(plain((error as Error).message)).toContain(failure.client);
    expect((error as Error).message).not.toMatch(/pulumi|Provider|stack|customTimeouts/);
  });

  test.each(["dynamic", "plugin"] as const)("in a stack on the %s", async (adapter) => {
    const { given, plain } = await begin(failure);
    const values = Object.entries(given).filter(([, value]) => value !== undefined);
    const config = Object.fromEntries(values.map(([name, value]) => [`consortium:${name}`, value]));
    const thrown: unknown[] = [];
    const { errors } = await new Stack(adapter, { config }).up(() => {
      try {
        new Consortium("c", {}, { customTimeouts: { create: "2s" } });
      } catch (error) {
        thrown.push(error); // the program itself would end with it
      }
    });
    const messages = [...errors, ...(thrown as Error[])].map(({ message }) => plain(message));
    expect(messages).toEqual([expect.stringContaining(failure.provider)]);
  });
});

test.each(["dynamic", "plugin"] as const)("an explicit provider on the %s is to get another key", async (adapter) => {
  await start();
  const { errors } = await new Stack(adapter).up(() => {
    const provider = new Provider("other", { apiKey: "revoked" });
    new Membership("m", { consortiumId: "c" }, { provider });
  });
  expect(errors.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /The API key from argument apiKey of the Provider was refused .*: give that Provider a valid one; add/,
    ),
  ]);
});
