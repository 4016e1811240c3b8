// @ts-check
/** A consortium with many members: the same stack in JavaScript, in YAML, and of dynamic resources that do nothing. */

/** @param {number} count */
export const members = (count) => `
  const { Consortium, Membership } = require("pulumi-consortium");
  const consortium = new Consortium("c", {});
  for (let n = 0; n < ${count}; n++) new Membership("m" + n, { consortium });
`;

/** @param {number} count */
export const emptyMembers = (count) => `
  const pulumi = require("@pulumi/pulumi");
  const provider = { create: (inputs) => Promise.resolve({ id: String(inputs.name), outs: inputs }) };
  class Empty extends pulumi.dynamic.Resource {
    constructor(name, args) {
      super(provider, name, { name, ...args });
    }
  }
  const parent = new Empty("c", {});
  for (let n = 0; n < ${count}; n++) new Empty("m" + n, { parentId: parent.id });
`;

/** @param {number} count */
export const membersInYaml = (count) =>
  [
    "resources:",
    "  c: { type: consortium:Consortium }",
    ...Array.from(
      { length: count },
      (_, n) => `  m${n}: { type: consortium:Membership, properties: { consortiumId: "\${c.id}" } }`,
    ),
    "",
  ].join("\n");
