import { Secrets } from "../../../provider/api/secrets";

const long = 'hünter2/"b c" & d\\e';
const told = (text: string, ...values: unknown[]): string => new Secrets(values).mask(text);
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("a secret is masked in every form in which a service may repeat it", () => {
  test.each<[string, string, string]>([
    ["as it is", `no ${long}!`, "no [secret]!"],
    ["in JSON", JSON.stringify({ token: long }), '{"token":"[secret]"}'],
    ["in JSON within JSON", JSON.stringify(JSON.stringify([long])), '"[\\"[secret]\\"]"'],
    ["in JSON of ASCII", '{"token":"h\\u00fcnter2/\\"b c\\" & d\\\\e"}', '{"token":"[secret]"}'],
    ["in JSON of PHP", '"hünter2\\/\\"b c\\" & d\\\\e"', '"[secret]"'],
    ["in a page", "<p>hünter2/&quot;b c&quot; &amp; d\\e</p>", "<p>[secret]</p>"],
    ["in a URL", `?q=${encodeURIComponent(long)}&r=1`, "?q=[secret]&r=1"],
    ["in a form", new URLSearchParams({ q: long, r: "1" }).toString(), "q=[secret]&r=1"],
    ["in capitals", long.toUpperCase(), "[secret]"],
    ["cut off", 'invalid body: {"token":"hünter2/\\"b…', 'invalid body: {"token":"[secret]…'],
    ["cut off at the end", 'invalid body: {"token":"hünter', 'invalid body: {"token":"[secret]'],
    ["cut off and quoted twice", 'no "hünter2/\\"b…" nor "hünter...', 'no "[secret]…" nor "[secret]...'],
  ])("%s", (_, text, shown) => {
    expect(told(text, { deep: [{ token: long }] })).toBe(shown);
  });

  test.each(["", "a", "ab", "abc"])("in base64, after %j", (before) => {
    for (const body of [before + long, JSON.stringify({ [before]: long }), before + long + before]) {
      const shown = told(`body ${base64(body)} refused`, long);
      const [, left = ""] = /^body (.*) refused$/.exec(shown)!;
      const readable = Buffer.from(left.replace("[secret]", ""), "base64").toString();
      expect(shown).toContain("[secret]");
      expect(readable).not.toMatch(/nter2|b c/);
    }
  });

  test("lines of it, if they are long", () => {
    const key = "-----BEGIN KEY-----\nMIIBVgIBADANBg\n  kqhkiG9w \nseven77\n-----END KEY-----";
    expect(told("cannot read MIIBVgIBADANBg, nor xkqhkiG9wx, but seven77", key)).toBe(
      "cannot read [secret], nor x[secret]x, but seven77",
    );
  });
});

test.each<[string, unknown, string, string]>([
  ["a word is hidden where it stands alone", "node", 'node "node" of 2 nodes', '[secret] "[secret]" of 2 nodes'],
  [
    "three letters where they are a value",
    "abc",
    'abc of "abc" with x=abc, "y": abc',
    'abc of "[secret]" with x=[secret], "y": [secret]',
  ],
  ["in a URL, four letters", "moon", "?q=%7B%22moon%22%7D&r=moons", "?q=%7B%22[secret]%22%7D&r=moons"],
  ["in a URL, three letters", "abc", "?q=%7B%22abc%22%3Aabc%7D&abc", "?q=%7B%22[secret]%22%3A[secret]%7D&abc"],
  ["a number, too", 77, 'HTTP 770 at 77: {"chain_id":77}', 'HTTP 770 at 77: {"chain_id":[secret]}'],
  ["a flag says nothing", true, 'it is "true"', 'it is "true"'],
  ["an empty text neither", "", 'it is ""', 'it is ""'],
  ["nor does nothing", [null, " "], 'it is "null" or " "', 'it is "null" or " "'],
  ["blanks around it do not count", " moon ", "a moon", "a [secret]"],
  ["eight letters are hidden within words, too", "moonbeam", "moonbeams, moonbe…", "[secret]s, [secret]…"],
  ["seven are not", "moonbea", "moonbeam, moonbea, moonbe…", "moonbeam, [secret], moonbe…"],
  ["in base64, six bytes", "sixsix", "c2l4c2l4", "[secret]"],
  ["in base64, not five", "fives", "Zml2ZXM", "Zml2ZXM"],
  ["nothing is known", undefined, "as it is…", "as it is…"],
])("messages stay readable: %s", (_, value, text, shown) => {
  expect(told(text, value)).toBe(shown);
});

describe("if one secret begins with another, no part of the longer one remains, whichever is learned first", () => {
  const [short, longer] = ["hunter-2-secret", "hunter-2-secret-and-more"];

  test.each([
    [short, longer],
    [longer, short],
  ])("%s, then %s", (...both) => {
    expect(told(`no ${longer}, no ${short}!`, ...both)).toBe("no [secret], no [secret]!");
    for (const body of [longer, `{"token":"${longer}"}`]) {
      const [, left = ""] = /^body (.*) refused$/.exec(told(`body ${base64(body)} refused`, ...both))!;
      expect(Buffer.from(left.replace("[secret]", ""), "base64").toString()).not.toMatch(/hunter|more/);
    }
  });
});

test("secrets that are learned later are masked, too", () => {
  const secrets = new Secrets(["first-one"]);
  expect(secrets.mask("first-one second-one")).toBe("[secret] second-one");
  secrets.learn({ a: "second-one" });
  expect(secrets.mask("first-one second-one")).toBe("[secret] [secret]");
});

test("characters of regular expressions and halves of characters are plain text", () => {
  for (const value of ["a.c(d)[e]{f}|^$*+?", "half \ud83d of one", "tail-\\"])
    expect(told(`<${value}>`, value)).toBe("<[secret]>");
});
