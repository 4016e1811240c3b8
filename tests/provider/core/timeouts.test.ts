import { timeoutMs } from "../../../provider/core/definition";
import { definitions } from "../../../provider/resources";
import { type Kind } from "../../support/engine";

/* How long each verb may take: half an hour for what starts slowly, five minutes for the rest, or what the user says. */

const minutes: Record<Kind, number> = {
  consortium: 5,
  membership: 5,
  environment: 30,
  node: 30,
  appCred: 5,
  tetherService: 5,
  consortiumZone: 5,
  environmentZone: 5,
  configuration: 5,
  service: 30,
  invitation: 5,
  destination: 5,
};
const table = (Object.keys(minutes) as Kind[]).flatMap((kind) =>
  (["create", "update", "delete"] as const).map((verb) => [kind, verb] as const),
);

test.each(table)("%s %s", (kind, verb) => {
  expect(timeoutMs(definitions[kind], verb, {})).toBe(minutes[kind] * 60_000);
  expect(timeoutMs(definitions[kind], verb, { customTimeouts: { [verb]: 7.5 } })).toBe(7_500);
  const others = { create: 1, update: 1, delete: 1, [verb]: undefined };
  expect(timeoutMs(definitions[kind], verb, { customTimeouts: others })).toBe(minutes[kind] * 60_000);
});
