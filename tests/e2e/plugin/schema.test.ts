import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../support/stack";

test("Pulumi finds nothing wrong with the schema", () => {
  const args = ["schema", "check", join(root, "schemas/schema.json")];
  expect(execFileSync(join(root, "tools/pulumi"), args, { encoding: "utf8", stdio: "pipe" })).toBe("");
});
