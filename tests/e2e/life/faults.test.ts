import { reading } from "../../../bench/measures/requests.mjs";
import { kinds, lagMs } from "../../../bench/reliability/faults.mjs";
import { Lab } from "../../../bench/reliability/lab.mjs";
import * as service from "../../../service/index";
import { pulumiCli } from "../../../tools/lib/pulumi-cli.mjs";

/* A sample of the matrix that `npm run reliability` runs one by one: an `up` in which calls fail ends with exactly the network. */

const environments = "/consortia/:consortiumId/environments";
const deploy = "/tether/:tetherId/deploy";

type Fault = [kind: string, method: string, route: string];
const runs: [title: string, adapter: "dynamic" | "plugin", faults: Fault[]][] = [
  [
    "one at each kind of resource",
    "dynamic",
    [
      ["refused for 1.5 s", "GET", "/consortia"],
      ["reset after", "POST", environments],
      ["acted, no answer", "POST", `${environments}/:environmentId/nodes`],
      ["429, Retry-After: 1", "GET", `${environments}/:environmentId/nodes`],
      ["cut, well-formed", "POST", `${environments}/:environmentId/appcreds`],
      ["acted, HTML, 502", "POST", deploy],
    ],
  ],
  [
    "a slow service, and a deployment that nobody knows of",
    "plugin",
    [
      ["slow: acts after 3 × the time-out", "POST", environments],
      ["reset before", "POST", deploy],
    ],
  ],
  [
    "lists far behind",
    "plugin",
    [["reset after, lists 8 s behind", "POST", `${environments}/:environmentId/appcreds`]],
  ],
];

// At the same time, because most of it is waiting.
test.concurrent.each(runs)("%s, on the %s provider: %j", async (_, adapter, faults) => {
  const cells = faults.map(([name, method, route]) => {
    const kind = kinds.find((one) => one.name === name)!;
    return { call: { method, route }, kind, lag: kind.lag ?? (kind.acted ? lagMs : 0) };
  });
  const lab = new Lab(await pulumiCli(), service);
  try {
    expect(await lab.fault(adapter, ...cells)).toMatchObject({ ok: true, why: "" });
  } finally {
    lab.close();
  }
});

/* A sample of what `npm run bench` measures: that which can be counted, and does not depend on what else the machine does. */
test("requests of a refresh", async () => {
  const rows = await reading({ cli: await pulumiCli(), module: service });
  expect(rows.filter(({ met }) => !met)).toEqual([]);
  expect(rows.length).toBeGreaterThan(0);
});
