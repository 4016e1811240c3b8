import { text } from "./files";
import { complaintsAbout } from "./operator";
import { crdsIn, refusedBy } from "./operator-crds";

test.each([
  ["a field that is misspelt", "repoDir", "repodir", /^Stack network-staging: spec: .*"repodir"/],
  ["a program from two places", "branch:", "programRef: { name: x }\n  branch:", /projectRepo or from programRef/],
  ["a repository without a branch", "branch: main", "", /needs a branch or a commit/],
  ["a reference that says nothing", /secret: .*passphrase }/, "", /spec.envRefs.PULUMI_CONFIG_PASSPHRASE.secret/],
  [
    "a name with a dot",
    "name: network-staging\n  namespace",
    "name: a.b\n  namespace",
    /^Stack a.b: metadata.name: is not/,
  ],
  [
    "a long name",
    "name: network-staging\n  namespace",
    `name: ${"a".repeat(43)}\n  namespace`,
    /more than 42 characters/,
  ],
  ["an address for scp", "https://git.example.com/trade", "git@git.example.com:trade", /no address that the operator/],
  ["a kind that is not known", "kind: Stack", "kind: Sack", /^Sack network-staging: kind/],
])("%s is refused", (_, right, wrong, complaint) => {
  const manifest = text("operator/stack-staging.yaml").replace(right, wrong);
  expect(complaintsAbout(manifest)).toEqual([expect.stringMatching(complaint)]);
});

const crd = `
spec:
  group: example.com
  names: { kind: Ship }
  versions:
    - name: v1
      schema:
        openAPIV3Schema:
          type: object
          properties:
            apiVersion: { type: string }
            kind: { type: string }
            metadata: { type: object }
            spec:
              type: object
              required: [load]
              properties:
                load: { anyOf: [{ type: integer }, { type: string }], x-kubernetes-int-or-string: true }
                free: { type: object, x-kubernetes-preserve-unknown-fields: true, properties: { a: { type: string } } }
                labels: { type: object, additionalProperties: { type: string } }
                since: { type: string, format: date-time }
`;

test.each([
  ["load: 5, free: { b: 1 }, labels: { c: d }, since: now", []],
  ["load: 5t, cargo: 1", ["Ship/spec: must NOT have additional properties (cargo)"]],
  ["labels: { c: 1 }", ["Ship/spec: must have required property 'load'", "Ship/spec/labels/c: must be string"]],
])("a CRD's schema on { %s }", (spec, expected) => {
  const text = `{ apiVersion: example.com/v1, kind: Ship, metadata: { name: a }, spec: { ${spec} } }`;
  expect(refusedBy(crdsIn([crd]), text)).toEqual(expected);
});
