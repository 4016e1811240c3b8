import type * as Connection from "../../cli/shared/connection";
import { exportStack } from "../../cli/shared/connection";
import { consortium } from "../cli/command";
import { client } from "../service/helpers";
import { send } from "../support/network";
import { setEnvironment, start } from "../support/service";

// It needs a Pulumi CLI.
jest.mock("../../cli/shared/connection", () => ({
  ...jest.requireActual<typeof Connection>("../../cli/shared/connection"),
  exportStack: jest.fn(),
}));

/* An object that another organization's key does not show is not gone: neither check nor map may say so. */

const kinds = ["owns a consortium", "owns nothing"] as const;

describe.each(["check", "map"] as const)("%s of a stack with the key of another organization", (name) => {
  test.each(kinds)("that %s: exit code 2, and the key", async (kind) => {
    const organizations = ["our", "their"].map((name) => ({ name, apiKey: `${name}-key` }));
    const { service } = await start({ organizations });
    const { _id: id, owner } = await send(service, "POST", "/consortia", { name: "trade" });
    const outputs = { name: "trade", owner, __kept: { version: 2, organizations: [owner], keys: [] } };
    const urn = "urn:pulumi:dev::app::pulumi-nodejs:dynamic/consortium:Consortium::trade";
    const resources = [{ urn, id, type: "x", inputs: { name: "trade" }, outputs }];
    jest.mocked(exportStack).mockResolvedValue({ version: 3, deployment: { resources } });
    setEnvironment({ CONSORTIUM_API_KEY: "their-key" });
    if (kind === "owns a consortium")
      await client(service.baseUrl, "their-key")("POST", "/consortia", { name: "other" });
    const args = name === "map" ? ["map", "--live", "--stack", "dev"] : ["check", "--stack", "dev"];
    const foreign = await consortium(args);
    expect(foreign).toMatchObject({ code: 2 });
    expect(foreign.stderr).toMatch(/was made with organization .*API key from environment variable CONSORTIUM_API_KEY/);
    expect(foreign.stdout + foreign.stderr).not.toMatch(/gone|pulumi refresh/);

    setEnvironment({ CONSORTIUM_API_KEY: "our-key" });
    expect((await consortium(args)).code).not.toBe(2);
  });
});
