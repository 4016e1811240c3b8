import * as fc from "fast-check";
import { random } from "../../support/random";
import { good, inData, inText } from "./problems";

/** Whatever a file contains, it is valid, or its errors have a line. Nothing else is ever thrown. */

const snippet = fc.oneof(
  fc.constantFrom(
    "*a",
    "&a ",
    "<<: *a\n",
    "!x ",
    "!!str ",
    "[",
    "]",
    "{",
    "}",
    "- ",
    "? ",
    ": ",
    "\n",
    "\t",
    "#",
    "|\n",
    ">\n",
  ),
  fc.constantFrom(
    "---\n",
    "...\n",
    "%YAML 1.1\n---\n",
    "null",
    "~",
    "12",
    "1e9",
    ".nan",
    "true",
    "__proto__: 1\n",
    "acme: ",
    "''",
    '"',
  ),
  fc.string({ unit: "binary", maxLength: 5 }),
);
const edit = fc.record({ at: fc.nat(good.length), cut: fc.nat(12), put: snippet });

test("edited files", () => {
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
      const text = edits.reduce((before, { at, cut, put }) => before.slice(0, at) + put + before.slice(at + cut), good);
      for (const line of inText(text)) expect(line).toMatch(/^(network\.yaml:\d+:\d+: |and \d+ more)/);
    }),
    random(300),
  );
});

test("any data", () => {
  const entry = fc.dictionary(
    fc.constantFrom("name", "nodes", "provider", "acme", "member", "formerly", "tether", "x"),
    fc.jsonValue(),
  );
  const keys = ["name", "members", "environments", "consortia", "consortium", "limits", "adopt", "formerly"];
  const definition = fc.dictionary(
    fc.constantFrom(...keys),
    fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.oneof(entry, fc.jsonValue()))),
  );
  fc.assert(
    fc.property(definition, (given) => {
      for (const line of inData(given)) expect(line).not.toBe("");
    }),
    random(300),
  );
});
