import * as sdk from "../../../sdk";
import { type Service } from "../../../service/index";
import { network } from "../../support/network";
import { program, valueOf } from "../../support/program";
import { setEnvironment, start } from "../../support/service";

/* The key that a lookup uses. */

async function world(): Promise<{ service: Service }> {
  await program();
  const { service, time } = await start();
  await network(service, time);
  return { service };
}

test.each(["dynamic provider", "plugin"])(
  "on the %s, settings of an explicit Provider win, given or by a parent",
  async (on) => {
    const { service } = await world();
    setEnvironment({ CONSORTIUM_PLUGIN: String(on === "plugin") });
    const theirs = service.addOrganization("theirs");
    const provider = new sdk.Provider("theirs", { apiKey: theirs.apiKey, baseUrl: service.baseUrl });
    const parent = new sdk.Consortium("c", {}, { provider });
    for (const opts of [{ provider }, { parent }]) {
      service.clearCalls();
      expect(await sdk.getConsortia({}, opts)).toEqual([]);
      expect(service.calls.map(({ organization }) => organization)).toEqual(["theirs"]);
    }
    expect(await valueOf(sdk.getConsortiaOutput({}, { provider }))).toEqual([]);
    expect(await sdk.getConsortia({})).toHaveLength(1);
  },
);

test("settings of the stack count if the environment has none, and are looked up each time", async () => {
  const { service } = await world();
  setEnvironment({ CONSORTIUM_API_KEY: undefined, CONSORTIUM_BASE_URL: undefined });
  await program({}, { "consortium:apiKey": service.apiKey, "consortium:baseUrl": service.baseUrl });
  expect(await sdk.getConsortia({})).toHaveLength(1);
  setEnvironment({ CONSORTIUM_API_KEY: "rotated" });
  await expect(sdk.getConsortia({})).rejects.toThrow(/HTTP 401.*CONSORTIUM_API_KEY/);
});

test("no key, or a refused one, ends the program with a message and no stack, and the cause for programs", async () => {
  await program();
  setEnvironment({ CONSORTIUM_API_KEY: undefined });
  await expect(sdk.getConsortia({})).rejects.toMatchObject({
    __pulumiRunError: true,
    message: expect.stringMatching(/No API key is set/) as string,
    cause: { name: "SettingsError" },
  });
});
