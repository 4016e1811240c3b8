import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../support/stack";

/** One trial of the compatibility matrix: the newest SDK on the Node.js that the docs use first. `npm run compatibility` tries the rest. */
test("a life with Node.js 24 and the newest @pulumi/pulumi, as npm installs them", async () => {
  const script = join(root, "bench/compatibility.mjs");
  const args = [script, "--only", "^Node.js 24.*SDK 3.270.0, dynamic provider, CommonJS, npm$"];
  const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: root }).catch(
    (error: { stderr: string }) => error,
  );
  expect(stderr).toMatch(/works +Node\.js 24\.[\d.]+, SDK 3\.270\.0, dynamic provider, CommonJS, npm/);
  expect(stderr).toContain("1 work, 0 fail");
}, 900_000);
