// @ts-check
/**
 * node tests/golden/make.mjs: keeps a state of this version for ever, together with the data of the service that it tells of, beside
 * the program that it is of: tests/golden/VERSION/program.cjs, one resource of each kind with every argument, to be written first.
 * tests/e2e/life/upgrade.test.ts goes on from it with later versions.
 * Made once for a version, after the last change to the provider: a state that users may have is never made again.
 */
import "../../tools/lib/node-version.mjs";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeFormatted } from "../../bench/lib/report.mjs";
import { Stack } from "../../bench/lib/stack.mjs";
import { build, installPackages, root } from "../../tools/lib/prepare.mjs";
import { pulumiCli } from "../../tools/lib/pulumi-cli.mjs";
import { runMain, log } from "../../tools/lib/terminal.mjs";
import { golden } from "./service.mjs";

/** Where in the program a resource comes from, which Pulumi notes, names folders of this machine. @param {string} state */
function withoutPlaces(state) {
  const places = ["sourcePosition", "stackTrace"];
  const kept = JSON.parse(state, (key, value) => (places.includes(key) ? undefined : value));
  return JSON.stringify(kept, null, 2);
}

await runMain("tests/golden/make", async () => {
  await installPackages();
  await build();
  const { startService } = await import("pulumi-consortium/service");
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const folder = join(root, "tests", "golden", version);
  const program = readFileSync(join(folder, "program.cjs"), "utf8");
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
    const exported = join(stack.folder, "stack.json");
    await stack.ok(["stack", "export", "--file", exported]);
    await service.close();
    await writeFormatted(join(folder, "stack.json"), withoutPlaces(readFileSync(exported, "utf8")));
    writeFileSync(join(folder, "service.jsonl"), readFileSync(join(data, "state.jsonl")));
    log(`The state of version ${version} is in ${folder}.`);
  } finally {
    stack.remove();
    await service.close();
    rmSync(data, { recursive: true, force: true });
  }
});
