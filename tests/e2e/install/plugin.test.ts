import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { cli, failed, root, Stack } from "../support/stack";
import { canaryKey } from "../support/world";

const { version } = jest.requireActual<{ version: string }>("../../../package.json");

test("consortium plugin install: the CLI finds the plugin, which it did not find before", async () => {
  const stack = await Stack.create({
    program: `const { Consortium } = require("pulumi-consortium"); new Consortium("c");`,
    config: { "consortium:plugin": "true" },
    env: { CONSORTIUM_API_KEY: canaryKey, PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true" },
  });
  stack.env.PULUMI_HOME = join(stack.folder, "home");
  // npm puts the commands of packages on the PATH, where Pulumi would find the plugin, too.
  stack.env.PATH = stack.env
    .PATH!.split(delimiter)
    .filter((folder) => !folder.endsWith(".bin"))
    .join(delimiter);
  const chosen = ["--stack", "test"]; // another home knows nothing of the one that is selected
  const missing = await failed(stack.preview({}, ...chosen));
  expect(missing).toContain("no resource plugin 'pulumi-resource-consortium' found");
  const script = join(root, "dist/cli/consortium.js");
  const env = { ...process.env, ...(await cli()).env, PULUMI_HOME: stack.env.PULUMI_HOME };
  for (const time of ["first", "again"])
    expect([time, spawnSync(process.execPath, [script, "plugin", "install"], { env }).status]).toEqual([time, 0]);
  expect(readdirSync(join(stack.env.PULUMI_HOME, "plugins"))).toContain(`resource-consortium-v${version}`);
  expect(await stack.preview({}, ...chosen)).toMatchObject({
    code: 0,
    text: expect.stringContaining("+ 2 to create") as string,
  });
});
