import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../support/stack";

/** Two trials of the compatibility matrix: the ends of the range in package.json. `npm run compatibility` tries the rest. */
test("a life with the oldest @pulumi/pulumi, and with the newest on Node.js 24, as npm installs them", async () => {
  const { peerDependencies } = jest.requireActual<{ peerDependencies: object }>("../../../package.json");
  expect(peerDependencies).toMatchObject({ "@pulumi/pulumi": ">=3.216.0 <4" });
  const pairs = "(20.*SDK 3.216.0|24.*SDK 3.276.0)";
  const args = [join(root, "bench/compatibility.mjs"), "--only", `^Node.js ${pairs}, dynamic provider, CommonJS, npm$`];
  const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: root }).catch(
    (error: { stderr: string }) => error,
  );
  expect(stderr).toMatch(/works +Node\.js 24\.[\d.]+, SDK 3\.276\.0, dynamic provider, CommonJS, npm/);
  expect(stderr).toContain("2 work, 0 fail");
}, 1_800_000); // the first time, that CLI is built
