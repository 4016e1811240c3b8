import { readFileSync } from "node:fs";
import { join } from "node:path";
import { done } from "../support/stack";
import { type World, world } from "../support/world";

/*
 * Hooks of resources and transforms of the stack, on both providers, and of invokes. The program runs on the host of `tools/pulumi`, which lets the SDK
 * talk to the engine itself.
 */

const adapters = [
  ["dynamic", false],
  ["plugin", true],
] as const;

/** A lookup by its token, whose arguments a transform changes. */
const invoke = `
  pulumi.runtime.registerInvokeTransform(({ token, args, opts }) =>
    token === "consortium:index:getConsortia" ? { args: { ...args, name: "other" }, opts } : undefined);
  const found = pulumi.runtime.invokeOutput("consortium:index:getConsortia", {}, { dependsOn: made });
  exports.names = found.consortia.apply((all) => all.map(({ name }) => name));
`;

/** Records the calls of hooks, with their arguments. A transform of the stack changes another resource. */
const hooks = (description: string, more: string): string => `
  const fs = require("node:fs");
  const pulumi = require("@pulumi/pulumi");
  const { Consortium } = require("pulumi-consortium");
  const told = (name) => new pulumi.ResourceHook(name, (args) => {
    const { newInputs = {}, newOutputs = {}, oldInputs = {} } = args;
    const said = [name, newInputs.description ?? oldInputs.description, newOutputs.state].filter(Boolean).join(" ");
    fs.appendFileSync("hooks.txt", said + "\\n");
  });
  const names = ["beforeCreate", "afterCreate", "beforeUpdate", "afterUpdate", "beforeDelete", "afterDelete"];
  const bound = Object.fromEntries(names.map((name) => [name, [told(name)]]));
  pulumi.runtime.registerResourceTransform(({ name, props, opts }) =>
    name === "other" ? { props: { ...props, description: "by the stack" }, opts } : undefined);
  const made = [new Consortium("c", { description: "${description}" }, { hooks: bound }), new Consortium("other")];
  exports.description = made[1].description;
  ${more}
`;

const written = (w: World): string[] => readFileSync(join(w.stack.folder, "hooks.txt"), "utf8").trim().split("\n");

test.each(adapters)("hooks before and after each operation, and transforms of the stack, on %s", async (_, plugin) => {
  const more = plugin ? invoke : "";
  const w = await world(hooks("one", more), { language: "nodejs", plugin, limits: { consortia: 3 } });
  await done(w.stack.up());
  expect(await w.stack.outputs()).toEqual({ description: "by the stack", ...(plugin && { names: ["other"] }) });
  expect((await w.network()).consortia.map(({ description }) => description).sort()).toEqual(["by the stack", "one"]);
  w.stack.program(hooks("two", more));
  await done(w.stack.up());
  await w.stack.ok(["destroy", "--yes", "--skip-preview", "--run-program"]);
  expect(written(w)).toEqual([
    "beforeCreate one",
    "afterCreate one setup",
    "beforeUpdate two",
    "afterUpdate two setup",
    "beforeDelete two",
    "afterDelete two",
  ]);
});

test.each(adapters)("onError: the hook decides about a retry, on %s", async (_, plugin) => {
  const program = `
    const fs = require("node:fs");
    const pulumi = require("@pulumi/pulumi");
    const { Consortium } = require("pulumi-consortium");
    const again = new pulumi.ErrorHook("again", ({ errors }) => {
      fs.appendFileSync("hooks.txt", errors.length + " " + errors[0].includes("[name-taken:") + "\\n");
      return errors.length < 2;
    });
    const first = new Consortium("c", { name: "same" });
    new Consortium("d", { name: "same" }, { dependsOn: [first], hooks: { onError: [again] } });
  `;
  // Pulumi 3.220 knows no such hooks.
  const w = await world(program, { language: "nodejs", plugin, release: "newest", limits: { consortia: 3 } });
  expect((await w.stack.up()).code).not.toBe(0);
  expect(written(w)).toEqual(["1 true", "2 true"]);
  expect((await w.network()).consortia).toHaveLength(1);
});
