import { reading } from "../../../bench/measures/requests.mjs";
import * as module from "../../../service/index";
import { pulumiCli } from "../../../tools/lib/pulumi-cli.mjs";

/* A sample of what `npm run bench` measures: that which can be counted, and does not depend on what else the machine does. */

test("requests of a refresh", async () => {
  const rows = await reading({ cli: await pulumiCli(), module });
  expect(rows.filter(({ met }) => !met)).toEqual([]);
  expect(rows.length).toBeGreaterThan(0);
});
