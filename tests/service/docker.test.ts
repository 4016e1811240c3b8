import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { newFolder } from "./helpers";

const root = resolve(__dirname, "../..");
const compose = join(root, "examples/docker/compose.yaml");
const linter = join(root, "node_modules/dclint/bin/dclint.cjs");
/** Docker wants single quotes, Prettier double ones. */
const options = ["--max-warnings", "0", "--disable-rule", "require-quotes-in-ports"];
const lint = (file: string) => spawnSync(process.execPath, [linter, file, ...options], { encoding: "utf8" });

test("the compose file keeps to Docker's schema, and the linter finds nothing", () => {
  expect(lint(compose)).toMatchObject({ status: 0, stderr: "" });
});

test("the linter would find a misspelled field", () => {
  const folder = newFolder();
  const file = join(folder, "compose.yaml");
  writeFileSync(file, readFileSync(compose, "utf8").replace("volumes:", "volume:"));
  expect(lint(file).status).toBe(1);
});
