import fc from "fast-check";
import { type Output, secret } from "@pulumi/pulumi";
import * as sdk from "../../sdk";
import { type FaultRule } from "../../service/index";
import { type Kind, type Props } from "../support/engine";

/** A resource of a program: its arguments, and which other resources give the ids of its parents. */
export interface Spec {
  key: string;
  kind: Kind;
  args: Props;
  parents: {
    consortiumId?: string;
    environmentId?: string;
    membershipId?: string;
    zoneId?: string;
    nodeConfigId?: string;
  };
}

const description = fc.constantFrom(undefined, "first", "second");

/** The form of a network; everything that it leaves out falls back to the first environment and member. */
export const shape = fc.record({
  description,
  members: fc.array(fc.record({ renamed: fc.boolean() }), { minLength: 1, maxLength: 2 }),
  environments: fc.array(
    fc.record({ description, renamed: fc.boolean(), consensusType: fc.constantFrom("raft", "ibft") }),
    { minLength: 1, maxLength: 2 },
  ),
  zone: fc.record({ renamed: fc.boolean() }),
  configuration: fc.record({ renamed: fc.boolean(), gas: fc.nat(1) }),
  nodes: fc.array(
    fc.record({ environment: fc.nat(1), member: fc.nat(1), renamed: fc.boolean(), furnished: fc.boolean() }),
    { maxLength: 3 },
  ),
  services: fc.array(
    fc.record({ member: fc.nat(1), renamed: fc.boolean(), size: fc.constantFrom("small", "medium") }),
    { maxLength: 2 },
  ),
  credentials: fc.array(fc.record({ environment: fc.nat(1), member: fc.nat(1), turn: fc.nat(1) }), { maxLength: 2 }),
});
export type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never;

/** The resources of a shape, parents before children. The first environment has a zone and a configuration. */
export function specsOf(all: Shape): Spec[] {
  const { description, members, environments, zone, configuration, nodes, services, credentials } = all;
  const named = (key: string, renamed: boolean): string => (renamed ? `${key} renamed` : key);
  const inEnvironment = (environment: number, member: number): Spec["parents"] => ({
    consortiumId: "c",
    environmentId: `e${environment % environments.length}`,
    membershipId: `m${member % members.length}`,
  });
  return [
    { key: "c", kind: "consortium", args: { name: "c", description }, parents: {} },
    ...members.map(({ renamed }, at): Spec => {
      const key = `m${at}`;
      return { key, kind: "membership", args: { orgName: named(key, renamed) }, parents: { consortiumId: "c" } };
    }),
    ...environments.map(({ description, renamed, consensusType }, at): Spec => {
      const key = `e${at}`;
      const args = { name: named(key, renamed), description, provider: "quorum", consensusType };
      return { key, kind: "environment", args, parents: { consortiumId: "c" } };
    }),
    {
      key: "z",
      kind: "environmentZone",
      args: { name: named("z", zone.renamed), region: "us-east-2", cloud: "aws" },
      parents: { consortiumId: "c", environmentId: "e0" },
    },
    {
      key: "g",
      kind: "configuration",
      args: {
        name: named("g", configuration.renamed),
        type: "node_config",
        details: { gas_price: String(configuration.gas) },
      },
      parents: inEnvironment(0, 0),
    },
    ...nodes.map(({ environment, member, renamed, furnished }, at): Spec => {
      const key = `n${at}`;
      const inside = inEnvironment(environment, member);
      const parents =
        furnished && inside.environmentId === "e0" ? { ...inside, zoneId: "z", nodeConfigId: "g" } : inside;
      return { key, kind: "node", args: { name: named(key, renamed) }, parents };
    }),
    ...services.map(({ member, renamed, size }, at): Spec => {
      const key = `s${at}`;
      const args = { name: named(key, renamed), service: "ipfs", size };
      return { key, kind: "service", args, parents: { ...inEnvironment(0, member), zoneId: "z" } };
    }),
    ...credentials.map(({ environment, member, turn }, at): Spec => {
      const key = `a${at}`;
      return {
        key,
        kind: "appCred",
        args: { name: key, keepers: { turn } },
        parents: inEnvironment(environment, member),
      };
    }),
  ];
}

type Made = new (name: string, args: object) => { id: Output<string> };

/** How the SDK calls a kind. */
export const typeOf = (kind: Kind) => `${kind.charAt(0).toUpperCase()}${kind.slice(1)}` as Capitalize<Kind>;

/** The program with these resources. It tells that the settings of a service are secret. @param more arguments of all */
export const programOf =
  (specs: readonly Spec[], more: Props = {}) =>
  (): void => {
    const ids: Record<string, Output<string>> = {};
    for (const { key, kind, args, parents } of specs) {
      const given = Object.entries(parents).map(([property, parent]) => [property, ids[parent]]);
      const hidden = kind === "service" && args.details ? { details: secret(args.details) } : {};
      const Class = sdk[typeOf(kind)] as Made;
      ids[key] = new Class(key, { ...args, ...hidden, ...more, ...(Object.fromEntries(given) as object) }).id;
    }
  };

/** One call goes wrong. */
export const fault = fc.record({
  rule: fc.constantFrom<FaultRule>(
    { kind: "resetBefore" },
    { kind: "resetAfter" },
    { kind: "truncated" },
    { kind: "truncated", wellFormed: true },
    { kind: "html", acted: true },
    { kind: "html", status: 200, acted: true },
    { kind: "status", status: 429, retryAfter: 2 },
    { kind: "status", status: 500, acted: true },
    { kind: "status", status: 503 },
    { kind: "status", status: 504, acted: true },
  ),
  nth: fc.integer({ min: 1, max: 25 }),
});
export type Fault = typeof fault extends fc.Arbitrary<infer T> ? T : never;

const mishap = fc.option(fault, { nil: undefined });

/** Events in the life of a stack, one after another. */
export const event = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("up" as const), shape, refresh: fc.boolean(), fault: mishap }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("refresh" as const), fault: mishap }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remote change" as const), which: fc.nat(11) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remote deletion" as const), which: fc.nat(11) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("destroy" as const), fault: mishap }) },
);
export type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;
