import { done } from "../support/stack";
import { world } from "../support/world";

/* Transforms of a program, which run after the constructors: their secrets stay secret, and their time-outs count. */

const program = (description: string): string => `
  const pulumi = require("@pulumi/pulumi");
  const { Configuration, Consortium, Environment, Membership } = require("pulumi-consortium");
  // Longer than any part of a time in the state.
  const detailed = ({ props, opts }) => ({ props: { ...props, details: { gas_price: "471147114711" } }, opts });
  const own = ({ props, opts }) => ({
    props: { ...props, description: pulumi.secret("${description}") },
    opts: { ...opts, customTimeouts: { create: "90s" } },
  });
  const consortium = new Consortium("c", {}, { transforms: [own] });
  const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft" });
  const membership = new Membership("m", { consortium });
  new Configuration("g", { environment, membership, type: "node_config", details: { gas_price: "1" } }, { transforms: [detailed] });
`;

test("no secret of a transform is in the state, even after drift, and another value is a change", async () => {
  const w = await world(program("hush-one"), { inline: false });
  const { consortia, configurations } = w.service.store;
  const state = async (): Promise<string> => {
    const text = await w.stack.exported();
    expect(text).not.toMatch(/hush|471147114711/);
    return text;
  };
  await done(w.stack.up());
  expect(configurations.list()[0]!.fields.details).toEqual({ gas_price: "471147114711" });
  expect(await state()).toMatch(/"customTimeouts":\s*\{\s*"create":\s*90\s*\}/);
  const { id } = consortia.list()[0]!;
  consortia.patch(id, { description: "theirs" });
  await done(w.stack.refresh());
  await state();
  for (const description of ["hush-one", "hush-two"]) {
    w.stack.program(program(description));
    await done(w.stack.up());
    await state();
    expect(consortia.get(id).fields.description).toBe(description);
  }
  expect((await done(w.stack.up())).text).toContain("5 unchanged");
});
