import { ApiKey } from "../../../provider/api/settings";
import { UndiciTransport } from "../../../provider/api/transport";
import { isKnown } from "../../../provider/core/organization";
import { settingVariables } from "../../../provider/pulumi/settings";
import * as runtime from "../../../provider/dynamic/runtime";
import { hostProcess } from "../../../provider/dynamic/host";
import { stub } from "../../../provider/constants";
import { setEnvironment, start } from "../../support/service";

/* The settings that the host of dynamic providers hands over, looked up at every call. */

const __provider = stub("consortium");
const { consortium } = runtime;

/** Configuration as the host hands it over. */
const config = (values: Record<string, string> = {}): { config: { get(key: string): string | undefined } } => ({
  config: { get: (key) => values[key] },
});
afterEach(() => consortium.configure(config()));

test("configure keeps its arguments at once, and does nothing else", () => {
  const send = jest.spyOn(UndiciTransport.prototype, "send");
  const get = jest.fn();
  expect(consortium.configure({ config: { get } })).toBeUndefined();
  expect(get).not.toHaveBeenCalled();
  expect(send).not.toHaveBeenCalled();
});

test("a wrong setting is an error in the preview, with its source; a missing key at the first use", async () => {
  await start();
  setEnvironment({ CONSORTIUM_BASE_URL: "nonsense" });
  consortium.configure(config());
  for (const verb of [consortium.check({}, { name: "a" }), consortium.create({ name: "a", __provider })])
    await expect(verb).rejects.toThrow(/base address from environment variable CONSORTIUM_BASE_URL is not an address/);
  setEnvironment({ CONSORTIUM_BASE_URL: undefined, CONSORTIUM_API_KEY: undefined });
  expect((await consortium.check({}, { name: "a" })).failures).toEqual([]);
  await expect(consortium.create({ name: "a", __provider })).rejects.toThrow(/No API key is set/);
  consortium.configure(config({ "consortium:region": "de" }));
  await expect(consortium.check({}, { name: "a" })).rejects.toThrow(
    'The setting region from stack configuration consortium:region must be one of us, eu, ap, ko, us1, eu1, not "de".',
  );
});

test("are looked up at every call: a key that was rotated in between works", async () => {
  const { service } = await start();
  const { id, outs } = await consortium.create({ name: "a", __provider });
  setEnvironment({ CONSORTIUM_API_KEY: service.rotateKey("local") });
  expect((await consortium.update(id, outs, { name: "b", __provider })).outs).toMatchObject({ name: "b" });
  service.rotateKey("local");
  await expect(consortium.delete(id, outs)).rejects.toThrow(
    /key from environment variable CONSORTIUM_API_KEY.*HTTP 401.*\[key-refused:/,
  );
});

test("are resolved again only after a change, of any variable or of the configuration", async () => {
  await start();
  consortium.configure(config({ "consortium:apiKey": "key" }));
  const { sessions } = hostProcess;
  const reveal = jest.spyOn(ApiKey.prototype, "reveal");
  const isKnownOnce = (): boolean => isKnown({ keys: ["salt:none", "salt:none", "salt:other"] }, sessions.known()!);
  expect([isKnownOnce(), isKnownOnce()]).toEqual([false, false]);
  expect(reveal).toHaveBeenCalledTimes(2); // for the key of the session, and for the fingerprint
  for (const name of settingVariables) {
    const before = sessions.known();
    expect(sessions.known()).toBe(before);
    setEnvironment({ [name]: String(process.env[name] === undefined) });
    await Promise.resolve(); // a verb asks for the variables once in a turn
    expect(sessions.known()).not.toBe(before);
    setEnvironment({ [name]: undefined });
    await Promise.resolve();
  }
  consortium.configure(config({ "consortium:apiKey": "other" }));
  expect(sessions.known()?.apiKey.reveal()).toBe("other");
});

test("long waits between attempts are reported", async () => {
  const { service, said } = await start();
  service.faults.add({ kind: "status", status: 429, retryAfter: 9, method: "POST" });
  await consortium.create({ name: "a", __provider });
  expect(said).toEqual(["POST /consortia: Too Many Requests; trying again in 9 s"]);
});

test("the host passes the configuration for each type of resource, and all share one session", async () => {
  await start();
  runtime.consortium.configure(config({}));
  const { sessions } = hostProcess;
  const first = sessions.current();
  const run = sessions.run();
  runtime.node.configure(config({}));
  expect(sessions.current()).toBe(first);
  expect(sessions.run()).toBe(run);
});
