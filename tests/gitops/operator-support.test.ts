import { complaintsAbout } from "./operator";
import { crdsIn, refusedBy } from "./operator-crds";

const stack = (spec: string) => `
apiVersion: pulumi.com/v1
kind: Stack
metadata: { name: north }
spec: { stack: north, ${spec} }
`;
const git = "projectRepo: https://git.example.com/network.git, branch: main";

test.each([
  ["a stack of a repository", stack(git), []],
  ["a field that is misspelt", stack(`${git}, repodir: x`), [/^Stack north: spec: .*"repodir"/]],
  ["a program from two places", stack(`${git}, programRef: { name: x }`), [/projectRepo or from programRef/]],
  ["a repository without a branch", stack("projectRepo: https://x"), [/needs a branch or a commit/]],
  ["a reference that says nothing", stack(`${git}, envRefs: { A: { type: Secret } }`), [/spec.envRefs.A.secret/]],
  ["a kind that is not known", "{ apiVersion: v1, kind: Sack, metadata: { name: a } }", [/^Sack a: kind/]],
])("%s", (_, text, expected) => {
  expect(complaintsAbout(text)).toEqual(expected.map((one) => expect.stringMatching(one) as string));
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
