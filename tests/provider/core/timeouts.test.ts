import { timeoutMs } from "../../../provider/core/definition";
import { definitions } from "../../../provider/resources";
import { type Kind } from "../../support/engine";

/* How long each verb may take: half an hour for what starts slowly, five minutes for the rest, or what the user says. */

const slow: Kind[] = ["environment", "node", "service"];
const kinds = Object.keys(definitions) as Kind[];
const table = kinds.flatMap((kind) => (["create", "update", "delete"] as const).map((verb) => [kind, verb] as const));

test.each(table)("%s %s", (kind, verb) => {
  const usual = (slow.includes(kind) ? 30 : 5) * 60_000;
  expect(timeoutMs(definitions[kind], verb, {})).toBe(usual);
  expect(timeoutMs(definitions[kind], verb, { customTimeouts: { [verb]: 7.5 } })).toBe(7_500);
  const others = { create: 1, update: 1, delete: 1, [verb]: undefined };
  expect(timeoutMs(definitions[kind], verb, { customTimeouts: others })).toBe(usual);
});
