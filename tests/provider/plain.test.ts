import { brokenTexts, printable, printableLines } from "../../provider/api/printable";
import { didYouMean, nearest, unknownSetting } from "../../provider/core/suggest";
import { counted, inEther, weiOf } from "../../provider/plain";

/** Plain values of answers, states and files, and words for people. */

test.each<[string, number | undefined, string]>([
  ["0", undefined, "0 ether"],
  ["1", undefined, "less than 0.0001 ether"],
  ["99999999999999", undefined, "less than 0.0001 ether"],
  ["100000000000000", undefined, "0.0001 ether"],
  ["998765432100000000", undefined, "0.9987 ether"],
  ["1000000000000000000", undefined, "1 ether"],
  ["1000000000000000001", undefined, "1 ether"],
  ["1234500000000000000000", undefined, "1,234.5 ether"],
  ["1234567000000000000", 2, "1.23 ether"],
  ["1", 2, "less than 0.01 ether"],
])("%s wei, with %j decimal places, are %s", (wei, places, ether) => expect(inEther(wei, places)).toBe(ether));

test.each<[string, bigint | undefined]>([
  ["1", 10n ** 18n],
  [" 0.5 ", 5n * 10n ** 17n],
  ["0.000000000000000001", 1n],
  ["123456789012", 123456789012n * 10n ** 18n],
  ...["0", "0.0", "", ".5", "1.", "-1", "1e3", "0.0000000000000000001", "1234567890123"].map(
    (none): [string, undefined] => [none, undefined],
  ),
])("an amount %j is %s wei", (ether, wei) => expect(weiOf(ether)).toBe(wei));

test.each([
  ["a\tb\nc\rd", "a\\tb\\nc\\rd"],
  ["\u001b[31m\u0000\u009b", "\\u001b[31m\\u0000\\u009b"],
  ["\u202e\u2028", "\\u202e\\u2028"],
  ["é 世界 😀 ~", "é 世界 😀 ~"],
])("%j is shown as %s", (given, shown) => {
  expect(printable(given)).toBe(shown);
  expect(printableLines(given)).toBe(shown.replaceAll("\\n", "\n"));
});

test.each<[unknown, (string | number)[][]]>([
  ["a😀", []],
  ["\ud83d", [[]]],
  [
    { a: ["x", "\ud83d", { b: "\udc00" }], c: 1 },
    [
      ["a", 1],
      ["a", 2, "b"],
    ],
  ],
  [{ a: { "\ud83d": "x" } }, [["a"]]],
  [{ a: { "\ud83d": "\udc00" } }, [["a"]]],
  [null, []],
  [new Map([["a", "\ud83d"]]), []],
])("texts that UTF-8 cannot represent, in %j", (value, paths) => expect(brokenTexts(value)).toEqual(paths));

test.each<[string, string | undefined]>([
  ["apikey", "apiKey"],
  ["regoin", "region"],
  ["regi", "region"],
  ["reg", undefined],
  ["re", undefined],
  ["baseURLs", "baseUrl"],
  ["organisation", "organization"],
  ["orga", "organization"],
  ["org", undefined],
  ["a", undefined],
  ["x", "x"],
  ["zzzzzz", undefined],
])("the nearest text to %s is %j", (given, found) =>
  expect(nearest(given, ["apiKey", "baseUrl", "region", "organization", "x"])).toBe(found),
);

test("the nearest of several is the one with the fewest edits", () => {
  expect(nearest("nodes", ["notes-and", "node", "model"])).toBe("node");
  expect(nearest("nodes", ["model", "nodes-a", "nodes"])).toBe("nodes");
});

test("if nothing is near, the existing ones: one, some, or the first twelve", () => {
  const names = Array.from({ length: 13 }, (_, index) => `name-${index}`);
  expect(didYouMean("acme", ["acne"])).toBe('; did you mean "acne"?');
  expect(didYouMean("zzz", [])).toBe("");
  expect(didYouMean("zzz", ["acme"])).toBe("; there is only acme");
  expect(didYouMean("zzz", ["a\n", "bb"])).toBe("; there are a\\n, bb");
  expect(didYouMean("zzz", names.slice(0, 12))).toBe(`; there are ${names.slice(0, 12).join(", ")}`);
  expect(didYouMean("zzz", names)).toBe(`; there are ${names.slice(0, 12).join(", ")}, and 1 more`);
});

test("an unknown setting, without its value", () => {
  expect(unknownSetting("regoin", ["region"])).toBe(
    'Stack configuration consortium:regoin is not a setting; did you mean "region"? Remove it with `pulumi config rm consortium:regoin`.',
  );
});

test.each([
  [0, "0 nodes", "0 files are"],
  [1, "1 node", "1 file is"],
  [2, "2 nodes", "2 files are"],
])("%d is counted in words", (count, one, sentence) => {
  expect([counted(count, "node"), counted(count, "file is", "files are")]).toEqual([one, sentence]);
});
