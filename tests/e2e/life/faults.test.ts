import { kinds, withFaults } from "../../../bench/reliability/faults.mjs";
import { type Build, Lab } from "../../../bench/reliability/lab.mjs";
import { withForeignKey, withKill } from "../../../bench/reliability/trials.mjs";
import * as service from "../../../service/index";
import { pulumiCli } from "../../../tools/lib/pulumi-cli.mjs";
import { testTogether } from "../../support/together";

/*
 * With the real CLI, a stack ends with exactly the network after failed calls, a killed run, or a key of another organization.
 * tests/reliability has every fault at every call, on a double of the engine.
 */

const environments = "/consortia/:consortiumId/environments";
const appcreds = `${environments}/:environmentId/appcreds`;
const deploy = "/tether/:tetherId/deploy";

const faults = (...all: [kind: string, method: string, route: string][]): Build =>
  withFaults(
    ...all.map(([name, method, route]) => ({
      call: { method, route },
      kind: kinds.find((one) => one.name === name)!,
    })),
  );

const cliKilledAfter =
  (route: string): Build =>
  async (bench) => {
    const up = await withKill({ method: "POST", route }, "CLI", true)(bench);
    expect(up.text).toContain("pending operations from previous deployment");
    return up;
  };

const trials: [title: string, adapter: "dynamic" | "plugin", build: Build][] = [
  [
    "faults, one at each kind of resource",
    "dynamic",
    faults(
      ["refused for 1.5 s", "GET", "/consortia"],
      ["reset after", "POST", environments],
      ["acted, no answer", "POST", `${environments}/:environmentId/nodes`],
      ["429, Retry-After: 1", "GET", `${environments}/:environmentId/nodes`],
      ["cut, well-formed", "POST", appcreds],
      ["acted, HTML, 502", "POST", deploy],
    ),
  ],
  ["the CLI killed after the tether's deployment", "plugin", cliKilledAfter(deploy)],
  [
    "the provider killed after a credential's create",
    "plugin",
    withKill({ method: "POST", route: appcreds }, "provider", true),
  ],
  [
    "the provider killed before the tether's deployment",
    "dynamic",
    withKill({ method: "POST", route: deploy }, "provider", false),
  ],
  ["the key of an organization with a consortium", "dynamic", withForeignKey("destroy", true)],
];

testTogether(trials, async (_, adapter, build) => {
  const lab = new Lab(await pulumiCli(), service);
  try {
    expect(await lab.trial(adapter, build)).toBe("");
  } finally {
    lab.close();
  }
});
