import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SharedProvider } from "../../fleet/provider";
import { temporary, writeIn } from "./made";

/* The provider process of a run. (With Pulumi and the plugin: tests/e2e/fleet.) */

/** In place of the plugin: serves each stack at another port, and ends when it is told to serve "fatal". */
const double = `
let port = 4000;
process.on("message", ({ serve, end }) => {
  if (serve === "fatal") process.exit(1);
  console.log(serve ?? "end " + end);
  process.send(end ? { served: end } : { served: serve, port: ++port });
});
process.on("disconnect", () => process.exit(0));
`;

test("each stack has its own port beside providers that you debug; a process that has ended is started again", async () => {
  const folder = temporary();
  const log = join(folder, "log");
  const provider = new SharedProvider(writeIn(folder, "double.js", double), log, process.env);
  const served = async (stack: string, others?: string) =>
    (await provider.serve(stack, { PULUMI_DEBUG_PROVIDERS: others })).PULUMI_DEBUG_PROVIDERS;
  expect(await Promise.all([served("a"), served("b", "aws:1,gcp:2")])).toEqual([
    "consortium:4001",
    "consortium:4002,aws:1,gcp:2",
  ]);
  await provider.end("a", true);
  await expect(served("fatal")).rejects.toThrow(`Look into ${log}: the provider has ended.`);
  expect(await served("c", "aws:1")).toBe("consortium:4001,aws:1");
  await provider.close();
  expect(readFileSync(log, "utf8").split("\n").sort()).toEqual(["", "a", "b", "c", "end a"]);
});
