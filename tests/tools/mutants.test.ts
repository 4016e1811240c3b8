import { mutantsOf } from "../../tools/lib/mutants.mjs";

test("a mutant for each operator, condition, truth value and statement, and none for types", () => {
  const text = [
    "const a: true | undefined = b && c !== d;",
    "const e = f ?? !g;",
    "if (a) throw new Error(h ? `x` : `y`);",
    "await k(false);",
  ].join("\n");
  const mutants = mutantsOf(text).map(({ line, was, put }) => `${line}: ${was} → ${put}`);
  expect(mutants).toEqual([
    "1: && → ||",
    "1: !== → ===",
    "2: f ?? !g → !g",
    "2: !g → g",
    "3: a → false",
    "3: throw new Error(h ? `x` : `y`); → ;",
    "3: h → !(h)",
    "4: await k(false); → ;",
    "4: false → true",
  ]);
  const { from, to } = mutantsOf(text)[0]!;
  expect(text.slice(0, from) + text.slice(to)).toBe(text.replace("&&", ""));
});
