import { contentsKey } from "../../../provider/constants";
import { type Props } from "../../../provider/core/definition";
import { lostEnvironments, renamedNodes } from "../../../provider/resources/losses";

/** Children that a program or a network file no longer has, or may only have renamed: each entry has its name first, then earlier ones. */

const inFile = (...names: string[][]) => ({ name: "ledger", [contentsKey]: names });
const inProgram = (...names: string[][]) => ({ name: "ledger", [contentsKey]: { classes: names } });

describe("environments", () => {
  test.each<[string, Props, Props]>([
    ["the same", inFile(["net/a"], ["net/b"]), inFile(["net/b"], ["net/a"])],
    ["one more", inFile(["net/a"]), inFile(["net/a"], ["net/b"])],
    ["one that names its earlier key", inFile(["net/a"], ["net/b"]), inFile(["net/c", "net/a"], ["net/b"])],
    ["nothing known before", {}, inFile(["net/a"])],
    ["nothing known now", inFile(["net/a"]), {}],
    ["from a file into the program", inFile(["net/a"]), inProgram(["b"])],
    ["from the program into a file", inProgram(["a"]), inFile(["net/b"])],
    ["something other than a name", { [contentsKey]: { classes: [["a"], "b"] } }, inProgram(["a"])],
    ["something other than a list", { [contentsKey]: { classes: "a" } }, { [contentsKey]: { classes: "b" } }],
  ])("none is lost: %s", (_, olds, news) => expect(lostEnvironments(olds, news)).toEqual([]));

  test("one that is gone is reported, without a hint if nothing is new", () => {
    expect(lostEnvironments(inFile(["net/a"], ["net/b"]), inFile(["net/a"]))).toEqual([
      expect.stringMatching(
        /^WARNING: environment "net\/b": .*\(its key is no longer in the definition of the network\)$/,
      ),
    ]);
    expect(lostEnvironments(inProgram(["a"], ["b"]), inProgram())).toEqual([
      expect.stringMatching(/^WARNING: environment "a": .*\(it is no longer in the program\)$/),
      expect.stringMatching(/^WARNING: environment "b": /),
    ]);
  });

  test("a new one may be the old one, renamed: with two new ones, either", () => {
    const [, hint] = lostEnvironments(inFile(["net/a"], ["net/k"]), inFile(["net/b"], ["net/c"], ["net/k"]));
    expect(hint).toBe(
      'environment "net/a": if you only renamed its key ("b" or "c"), write "formerly: a" there, and nothing is deleted.',
    );
    expect(lostEnvironments(inProgram(["a"]), inProgram(["b"]))[1]).toBe(
      'environment "a": if you only renamed it ("b"), set the resource option aliases: [{ name: "a" }] on that one, and nothing is deleted.',
    );
  });

  test("one with several earlier names is not new if any of them was there", () => {
    expect(lostEnvironments(inFile(["net/a"], ["net/z"]), inFile(["net/c", "net/b", "net/a"]))).toEqual([
      expect.stringContaining('environment "net/z"'),
    ]);
  });
});

describe("nodes", () => {
  test.each<[string, Props, Props]>([
    ["nothing is gone", inFile(["net/e/a"]), inFile(["net/e/a"], ["net/e/b"])],
    ["nothing is new", inFile(["net/e/a"], ["net/e/b"]), inFile(["net/e/a"])],
    ["nothing is known", {}, {}],
  ])("%s: nothing to say", (_, olds, news) => expect(renamedNodes(olds, news)).toEqual([]));

  test("some are gone and others are new", () => {
    expect(renamedNodes(inFile(["net/e/a"], ["net/e/b"]), inFile(["net/e/c"], ["net/e/d"]))).toEqual([
      'environment "ledger": creates nodes "c" and "d", and deletes "a" and "b", which are no longer declared. If you only ' +
        'renamed them, give each formerly: "<its old key>": then nothing is created or deleted. A member that was renamed needs that, too.',
    ]);
    expect(renamedNodes(inProgram(["a/b"]), inProgram(["c/d"]))[0]).toContain(
      'creates nodes "c/d", and deletes "a/b", which are no longer declared. If you only renamed them, give each the resource option',
    );
  });
});
