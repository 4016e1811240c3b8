import { type Cell, kinds, lagMs } from "../../bench/reliability/faults.mjs";
import { Lab } from "../../bench/reliability/lab.mjs";
import * as service from "../../service";
import { pulumiCli } from "../../tools/lib/pulumi-cli.mjs";

/* A sample of the matrix that `npm run reliability` runs: one fault in one `up`, which ends with exactly the network. */

const environments = "/consortia/:consortiumId/environments";

const sample: [kind: string, method: string, route: string][] = [
  ["429, Retry-After: 1", "GET", `${environments}/:environmentId/nodes`],
  ["refused for 1.5 s", "POST", "/consortia"],
  ["reset after", "POST", environments],
  ["acted, no answer", "POST", `${environments}/:environmentId/nodes`],
  ["cut, well-formed", "POST", `${environments}/:environmentId/appcreds`],
  ["acted, HTML, 502", "POST", "/tether/:tetherId/deploy"],
  ["reset before", "POST", "/tether/:tetherId/deploy"],
  ["slow: acts after 3 × the time-out", "POST", environments],
  ["reset after, lists 8 s behind", "POST", `${environments}/:environmentId/appcreds`],
];

let lab: Lab;
beforeAll(async () => {
  lab = new Lab(await pulumiCli(), service);
});
afterAll(() => lab.close());

test.each(sample)("%s at %s %s", async (name, method, route) => {
  const kind = kinds.find((one) => one.name === name)!;
  const cell: Cell = { call: { method, route }, kind, lag: kind.lag ?? (kind.acted ? lagMs : 0) };
  expect(await lab.fault(cell)).toMatchObject({ ok: true, why: "" });
});
