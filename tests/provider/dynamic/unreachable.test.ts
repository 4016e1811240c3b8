import { bases } from "../../support/bases";
import { Engine } from "../../support/engine";
import { world, type World } from "../../support/lifecycle";
import { newProcess, setEnvironment } from "../../support/service";

/* A service that cannot be used with these settings: each verb says why once, and nothing is dropped or half done. */

const connections: [string, (service: World["service"]) => Record<string, string | undefined>, RegExp][] = [
  [
    "no key",
    () => ({ CONSORTIUM_API_KEY: undefined }),
    /No API key is set\. Set the environment variable CONSORTIUM_API_KEY, or run `pulumi config set --secret consortium:apiKey`/,
  ],
  [
    "a refused key",
    () => ({ CONSORTIUM_API_KEY: "revoked" }),
    /HTTP 401: .*The API key from environment variable CONSORTIUM_API_KEY was refused/,
  ],
  [
    "an unreachable service",
    () => ({ CONSORTIUM_BASE_URL: "http://127.0.0.1:9/api/v1" }),
    /the connection was refused\. The service at http:\/\/127\.0\.0\.1:9\/api\/v1 \(from environment variable CONSORTIUM_BASE_URL\) cannot be reached/,
  ],
  [
    "another service's address",
    ({ url }) => ({ CONSORTIUM_BASE_URL: `${url}/elsewhere/api/v1` }),
    /HTTP 404: .*Check that http:.*elsewhere\/api\/v1 \(from environment variable CONSORTIUM_BASE_URL\) is the address of the API/,
  ],
  [
    "an address elsewhere, in clear",
    () => ({ CONSORTIUM_BASE_URL: "http://service.example/api/v1" }),
    /The base address http:\/\/service\.example\/api\/v1 from environment variable CONSORTIUM_BASE_URL begins with http:\/\/ .*in clear/,
  ],
  [
    "a proxy that nobody runs",
    () => ({ HTTP_PROXY: "http://127.0.0.1:9", NO_PROXY: "" }),
    /the proxy http:\/\/127\.0\.0\.1:9 \(environment variable HTTP_PROXY\): the connection was refused\. Check HTTP_PROXY/,
  ],
  [
    "an address without the version",
    ({ url }) => ({ CONSORTIUM_BASE_URL: url }),
    /The base address from environment variable CONSORTIUM_BASE_URL has the path "\/".*ends in \/api\/v1/,
  ],
];

const { HTTP_PROXY, NO_PROXY } = process.env;
afterEach(() => setEnvironment({ HTTP_PROXY, NO_PROXY }));

test.each(connections)("%s: create, refresh, change and destroy", async (_, settings, message) => {
  const { engine, net, count, service } = await world("consortium");
  await engine.up(bases.consortium(net));
  const [before, kept] = [await count(), structuredClone(engine.kept)];
  const said = jest.spyOn(console, "error").mockImplementation(() => undefined);
  const here = { ...process.env };
  /** A process tells once what all of its resources meet. */
  const anew = async (): Promise<void> => {
    setEnvironment({ ...here, HTTP_PROXY, NO_PROXY });
    await engine.preview(bases.consortium(net));
    setEnvironment(settings(service));
    newProcess();
  };
  await anew();

  const another = new Engine("consortium");
  const errorOf = (verb: Promise<unknown>): Promise<string> =>
    verb.then(
      (outcome) => (outcome as { error?: string; failures?: { reason: string }[] }).error ?? JSON.stringify(outcome),
      (error: Error) => error.message,
    );
  expect(await errorOf(another.up({ name: "another" }))).toMatch(message);
  await anew();
  expect(await errorOf(engine.refresh())).toMatch(message);
  await anew();
  expect(await errorOf(engine.up({ ...bases.consortium(net), name: "renamed" }))).toMatch(message);
  await anew();
  expect(await errorOf(engine.destroy())).toMatch(message);

  expect([another.kept, engine.kept]).toEqual([undefined, kept]);
  expect(said).not.toHaveBeenCalled();
  setEnvironment({ ...here, HTTP_PROXY, NO_PROXY });
  expect(await count()).toBe(before);
});
