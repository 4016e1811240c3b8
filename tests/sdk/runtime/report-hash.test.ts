import fc from "fast-check";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { canonicalJson } from "../../../sdk/runtime/report";
import { canonicalJson as ofTheService } from "../../../service/tether/pins";
import { programOf } from "../../e2e/support/backends/programs";
import { random } from "../../support/random";

/* The text of a report that is hashed: three implementations, one of them in another language, write the same. */

let python: ChildProcessWithoutNullStreams;
let answers: AsyncIterator<string>;
beforeAll(async () => {
  python = spawn(await programOf("python3", "python3"), [join(__dirname, "canonical.py")]);
  answers = createInterface(python.stdout)[Symbol.asyncIterator]();
});
afterAll(() => python.stdin.end());

const inPython = async (json: string): Promise<string> => {
  python.stdin.write(`${json}\n`);
  return JSON.parse(((await answers.next()) as IteratorYieldResult<string>).value) as string;
};

/** Any UTF-16, also surrogates without a partner. */
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
  fc.string({
    unit: fc.constantFrom("\ud83d", "\ude00", "\uffff", "\u{1f600}", "z", "é", "\u2028", '"', "\\", "\u0007"),
  }),
);
const number = fc
  .oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.maxSafeInteger(),
    fc
      .integer({ min: -330, max: 308 })
      .chain((power) => fc.integer({ min: 1, max: 99 }).map((n) => Number(`${n}e${power}`))),
  )
  .filter(Number.isFinite);
const { reports } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: "small" }, text, number, fc.boolean(), fc.constant(null), tie("list"), tie("object")),
  list: fc.array(tie("value"), { maxLength: 4 }),
  object: fc.dictionary(text, tie("value"), { maxKeys: 5 }),
  reports: fc.array(tie("object"), { minLength: 1, maxLength: 4 }),
}));

test("200 random reports", async () => {
  const property = fc.asyncProperty(reports, async (value) => {
    const json = JSON.stringify(value);
    const written = await inPython(json);
    const parsed = JSON.parse(json) as unknown;
    expect(canonicalJson(parsed)).toBe(written);
    expect(ofTheService(parsed)).toBe(written);
    expect(JSON.parse(written)).toEqual(parsed);
  });
  await fc.assert(property, random(200));
});

test.each([
  ["numbers", "[1e21,1e20,123456789012345680000,1e-6,1e-7,-0,0.1,5e-324,1.7976931348623157e308,12345678901234567890]"],
  [
    "keys, by UTF-16 code units",
    '[{"\\uffff":1,"\\ud83d\\ude00":2,"a":3,"":4,"10":5,"9":6,"__proto__":7,"\\udc00":8}]',
  ],
  ["text", '["\\u0000\\u001f\\u007f\\u2028\\"\\\\/\\ud800x\\udfff\\ud83d\\ude00é"]'],
])("%s", async (_, json) => {
  expect(canonicalJson(JSON.parse(json))).toBe(await inPython(json));
});
