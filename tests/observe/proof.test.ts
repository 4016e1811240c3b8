import type * as Connection from "../../cli/shared/connection";
import { exportStack } from "../../cli/shared/connection";
import { consortium } from "../cli/command";
import { type NetworkModel } from "../../inventory/model";
import { type Result } from "../../observe/check/checks";
import { temporary, writeIn } from "../fleet/made";
import { client } from "../service/helpers";
import { send } from "../support/network";
import { setEnvironment, start } from "../support/service";

// It needs a Pulumi CLI.
jest.mock("../../cli/shared/connection", () => ({
  ...jest.requireActual<typeof Connection>("../../cli/shared/connection"),
  exportStack: jest.fn(),
}));

const resource = (owner: unknown, type: string, id: string, props: object = {}) => {
  const urn = `urn:pulumi:dev::app::consortium:index:${type}::${id}`;
  return { urn, id, inputs: props, outputs: { ...props, __kept: { version: 2, organizations: [owner], keys: [] } } };
};
/** The state of the stack. */
const exported = (...resources: object[]) =>
  jest.mocked(exportStack).mockResolvedValue({ version: 3, deployment: { resources } });

test("check tries the credentials of a stack and those of --outputs", async () => {
  const { service } = await start();
  const { _id: id, owner } = await send(service, "POST", "/consortia", { name: "trade" });
  const pair = (username: string) => ({ username, password: "p" });
  exported(resource(owner, "Consortium", id), ...["a", "b"].map((one) => resource(owner, "AppCred", one, pair(one))));
  const outputs = writeIn(temporary(), "outputs.json", JSON.stringify([pair("c"), pair("d")]));
  const { stdout } = await consortium(["check", "--stack", "dev", "--outputs", outputs, "--json"]);
  const { results } = JSON.parse(stdout) as { results: Result[] };
  const tried = results.flatMap(({ check, subject }) => (check === "credential" ? [subject.id] : []));
  expect(tried.sort()).toEqual(["a", "b", "c", "d"]);
});

test("a live map of a stack has its tethers, and those of --tether", async () => {
  const ids = ["tether0001", "tether0002", "tether0003"];
  const { service } = await start({ tethers: ids.map((id) => ({ id })) });
  const { _id: id, owner } = await send(service, "POST", "/consortia", { name: "trade" });
  const [first, second, given] = ids as [string, string, string];
  const tethers = [first, second].map((tetherId) => resource(owner, "TetherService", tetherId, { tetherId }));
  exported(resource(owner, "Consortium", id, { name: "trade" }), ...tethers);
  const { stdout } = await consortium(["map", "--live", "--stack", "dev", "--tether", given, "--json"]);
  const model = JSON.parse(stdout) as NetworkModel;
  expect(model.tethers.map((one) => one.id).sort()).toEqual(ids);
});

/* An object that another organization's key does not show is not gone: neither check nor map may say so. */

const kinds = ["owns a consortium", "owns nothing"] as const;

describe.each(["check", "map"] as const)("%s of a stack with the key of another organization", (name) => {
  test.each(kinds)("that %s: exit code 2, and the key", async (kind) => {
    const organizations = ["our", "their"].map((name) => ({ name, apiKey: `${name}-key` }));
    const { service } = await start({ organizations });
    const { _id: id, owner } = await send(service, "POST", "/consortia", { name: "trade" });
    exported(resource(owner, "Consortium", id, { name: "trade" }));
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
