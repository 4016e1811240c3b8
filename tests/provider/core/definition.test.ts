import { z } from "zod";
import { check } from "../../../provider/core/check";
import {
  conditionIn,
  identityOf,
  isOver,
  keysWith,
  nameKey,
  nameOf,
  pathOf,
  secretKeys,
} from "../../../provider/core/definition";
import { docOf, field, metaOf, wireName } from "../../../provider/core/field";
import { definitions } from "../../../provider/resources";

/* What the definition of a resource says of its objects and its fields, and of what a program gives them. */

const { appCred, environment, environmentZone, invitation, node, tetherService } = definitions;

test.each<[string, unknown, string]>([
  ["its name", { name: "a\nb" }, 'node "a\\nb"'],
  ["its business", { orgName: "acme" }, 'node "acme"'],
  ["its tether", { tetherId: "t1" }, 'node "t1"'],
  ["none where that is empty", { name: "" }, "node"],
  ["none where that is no text", { name: 7 }, "node"],
  ["none where there is none", {}, "node"],
])("messages name an object by %s", (_, inputs, name) => {
  expect(nameOf(node, inputs as Record<string, unknown>)).toBe(name);
});

test("an object is told apart by its name, or by what its definition says", () => {
  const inputs = { name: "a", region: "r", cloud: "c" };
  expect([node, environmentZone, appCred].map((one) => identityOf(one, inputs))).toEqual(["a", "r c", undefined]);
  expect([node, invitation, tetherService].map(nameKey)).toEqual(["name", "orgName", undefined]);
});

test("the path of an object says where it is; a state that has lost that, what it is", () => {
  const owned = { consortiumId: "c", environmentId: "e" };
  expect(pathOf(node, owned, "n/1")).toBe("/consortia/c/environments/e/nodes/n%2F1");
  expect(pathOf(node, { environmentId: "e" }, "n1")).toBe("Node n1");
});

test("a state means what it means for all, unless the definition knows better", () => {
  expect([" Declined ", "pending", undefined].map((state) => conditionIn(invitation, { state }))).toEqual([
    "over",
    "ready",
    "ready",
  ]);
  expect([" Initializing", "failed"].map((state) => conditionIn(environment, { state }))).toEqual(["empty", "failed"]);
  expect(conditionIn(node, { state: "initializing" })).toBe("pending");
  expect([isOver(invitation, { state: "expired" }), isOver(node, { state: "expired" })]).toEqual([true, false]);
});

test("what is secret, and what a change does", () => {
  for (let times = 0; times < 2; times++)
    expect([appCred, node].map((one) => secretKeys(one))).toEqual([["password", "basicAuthHeader"], []]);
  expect(keysWith(appCred, "regenerate")).toEqual(["rotateWhenChanged"]);
});

describe("a field", () => {
  const plain = field(z.string(), "What it is.");
  const told = field(z.string(), "What it is.", { seen: ["a", "b"], argument: "thing", default: "none" });
  const special = field(z.string(), "What it is.", { inTypeScript: "Say it so.", argument: "thing" });
  const allowed = " The service decides which values are allowed; seen: `a`, `b`.";
  test.each<[z.ZodType, "typescript" | "any" | undefined, string | undefined]>([
    [plain, "typescript", "What it is."],
    [told, undefined, `What it is.${allowed} Default: none.`],
    [told, "typescript", `What it is.${allowed} Programs can pass the resource as \`thing\` instead. Default: none.`],
    [special, "typescript", "What it is. Say it so."],
    [special, "any", "What it is."],
    [z.string(), "typescript", undefined],
  ])("is documented for its reader: %#", (schema, reader, doc) => expect(docOf(schema, reader)).toBe(doc));

  test("has its words last", () => expect(() => metaOf(plain.optional())).toThrow("wrap it in field(…), last"));

  test("has the service's name", () => {
    expect(["name", "orgName", "revision", "useTLSNow"].map(wireName)).toEqual([
      "name",
      "org_name",
      "_revision",
      "use_t_l_s_now",
    ]);
  });
});

describe("what a program gives", () => {
  const inputs = z.strictObject({
    color: field(z.enum(["red", "blue"]), "A color."),
    size: field(z.string().optional(), "A size."),
  });
  const issuesOf = (news: Record<string, unknown>) => check({ type: "Thing", inputs }, news).issues;
  test.each<[Record<string, unknown>, string[]]>([
    [{ color: "red", size: null }, []],
    [{ color: "blu" }, [expect.stringMatching(/, not "blu"; did you mean "blue"\?$/) as string]],
    [{ color: "zzzz" }, [expect.stringMatching(/, not "zzzz"$/) as string]],
    [{ color: 7 }, [expect.not.stringContaining("not ") as string]],
    [{ color: "red", size: { a: 1 } }, ["size must be text, not an object"]],
    [{ color: "red", sise: null }, []],
    [{ color: "red", qqqqqq: "x" }, ['Thing has no argument "qqqqqq". Its arguments are color, size.']],
  ])("%j", (news, reasons) => expect(issuesOf(news).map(({ reason }) => reason)).toEqual(reasons));

  test("what is left out is not there; what is missing is told for each", () => {
    expect(check(definitions.consortium, { name: "a" }).inputs).toStrictEqual({ name: "a" });
    const { issues } = check(environment, { consortiumId: "c" });
    expect(issues.map(({ property }) => property)).toEqual(["provider", "consensusType", "name"]);
  });

  const owned = { consortiumId: "c", environmentId: "e", membershipId: "m" };
  test.each<[string, Record<string, unknown>, string[]]>([
    ["name", { name: "x" }, ["extra must not hold name: give it as name instead"]],
    ["region", { region: "x" }, ["extra must not hold region: give it as region instead"]],
    ["what does not identify it", { type: "x", rack: 1 }, []],
  ])("extra: %s", (_, extra, reasons) => {
    const zone = { consortiumId: "c", environmentId: "e", name: "z", region: "r", cloud: "aws", extra };
    expect(check(environmentZone, zone).issues.map(({ reason }) => reason)).toEqual(reasons);
  });

  test("a misspelt argument is named, unless it may be a secret", () => {
    const configuration = { ...owned, name: "g", type: "kms" };
    const misspelt = (more: object) =>
      check(definitions.configuration, { ...configuration, ...more }).issues.map(({ property }) => property);
    expect([misspelt({ nam: "x" }), misspelt({ detail: "x" }), misspelt({ qqqqqqq: "x" })]).toEqual([
      ["nam"],
      [""],
      [""],
    ]);
    expect(check(node, { ...owned, name: "n", qqqqqqq: "x" }).issues.map(({ property }) => property)).toEqual([
      "qqqqqqq",
    ]);
  });
});
