import { reading } from "../../../bench/measures/reading.mjs";
import { throttled } from "../../../bench/measures/throttled.mjs";
import * as module from "../../../service";
import { pulumiCli } from "../../../tools/lib/pulumi-cli.mjs";

/* A sample of what `npm run bench` measures: that which can be counted, and does not depend on what else the machine does. */

test.each([
  ["requests of a refresh", reading],
  ["429 on a third of all requests", throttled],
])("%s", async (_what, measure) => {
  const { rows } = await measure({ cli: await pulumiCli(), module });
  expect(rows.filter(({ met }) => !met)).toEqual([]);
  expect(rows.length).toBeGreaterThan(0);
});
