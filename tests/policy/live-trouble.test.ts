import { consortiaPerOrganization, withSettings } from "../../sdk/policy";
import { setEnvironment } from "../support/service";
import { begin } from "./support/existing";
import { judge, messages } from "./support/host";
import { Plan, unknown } from "./support/plan";

const consortia = withSettings(consortiaPerOrganization, { live: true });

describe("where the organization cannot be asked, that is advice, and this stack is counted", () => {
  const three = (): Plan => {
    const plan = new Plan();
    for (const name of ["a", "b", "c"]) plan.add("Consortium", name);
    return plan;
  };

  test.each<[string, Record<string, string | undefined>, RegExp]>([
    [
      "no key",
      { CONSORTIUM_API_KEY: undefined },
      /^Only this stack was counted\. No API key is set\. Set the environment variable/,
    ],
    [
      "nobody there",
      { CONSORTIUM_BASE_URL: "http://127.0.0.1:9/api/v1" },
      /^Only this stack was counted\. GET \/consortia: the connection was refused\. The service at .* cannot be reached/,
    ],
    [
      "a refused key",
      { CONSORTIUM_API_KEY: "secret-of-nobody" },
      /^Only this stack was counted\. GET \/consortia: HTTP 401: .*The API key from environment variable CONSORTIUM_API_KEY was refused/,
    ],
  ])("%s", async (_, env, message) => {
    await begin();
    setEnvironment(env);
    const found = await judge([consortia], three());
    expect(found.map(({ level }) => level)).toEqual(["advisory", "mandatory"]);
    expect(found[0]!.message).toMatch(message);
    expect(found[1]!.message).toContain('would have 3 consortia (in this stack "a", "b" and "c")');
    expect(JSON.stringify(found)).not.toContain("secret-of-nobody");
  });

  test("a service in trouble", async () => {
    const { service } = await begin();
    service.faults.add({ route: "/consortia", kind: "status", status: 503, times: Infinity });
    expect((await judge([consortia], three()))[0]).toMatchObject({
      level: "advisory",
      message: expect.stringContaining("Only this stack was counted. GET /consortia: HTTP 503") as string,
    });
  });

  test("settings of a Provider that are not known yet", async () => {
    const plan = new Plan();
    const provider = plan.provider("acme", { apiKey: unknown });
    plan.add("Consortium", "c", {}, { provider });
    expect(await messages(consortia, plan)).toEqual([
      'Only this stack was counted. The settings of provider "acme" are not known before the run.',
    ]);
  });
});
