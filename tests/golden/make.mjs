// @ts-check
/**
 * node tests/golden/make.mjs: keeps a state of this version for ever, in a folder named after it, together with the program that
 * it is of and with the data of the service that it tells of. tests/e2e/upgrade.test.ts goes on from it with later versions.
 * Made once for a version, after the last change to the provider: a state that users may have is never made again.
 */
import "../../tools/lib/node-version.mjs";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Stack } from "../../bench/lib/stack.mjs";
import { build, installPackages, root } from "../../tools/lib/prepare.mjs";
import { pulumiCli } from "../../tools/lib/pulumi-cli.mjs";
import { runMain, say } from "../../tools/lib/say.mjs";
import { golden } from "./service.mjs";

await runMain("tests/golden/make", async () => {
  await installPackages();
  await build();
  const { startService } = await import("pulumi-consortium/service");
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const folder = join(root, "tests", "golden", version);
  const program = readFileSync(join(root, "tests/golden/program.cjs"), "utf8");
  const data = mkdtempSync(join(tmpdir(), "consortium-golden-"));
  const service = await startService({ ...golden, dataDir: data });
  const env = {
    CONSORTIUM_API_KEY: service.apiKey,
    CONSORTIUM_BASE_URL: service.baseUrl,
    PULUMI_CONFIG_PASSPHRASE: "end-to-end",
  };
  const stack = await Stack.create(await pulumiCli(), { project: "e2e", program, env });
  try {
    await stack.ok(["up", "--yes", "--skip-preview"]);
    mkdirSync(folder, { recursive: true });
    await stack.ok(["stack", "export", "--file", join(folder, "stack.json")]);
    await service.close();
    cpSync(join(data, "state.jsonl"), join(folder, "service.jsonl"));
    writeFileSync(join(folder, "program.cjs"), program);
    say(`The state of version ${version} is in ${folder}.`);
  } finally {
    stack.remove();
    await service.close();
    rmSync(data, { recursive: true, force: true });
  }
});
