import { type Input, type Output, RunError } from "@pulumi/pulumi";
import { type Consortium } from "./consortium";
import { type Environment } from "./environment";
import { type Membership } from "./membership";

/** The consortium, as the resource or by its id. */
export type InConsortium =
  { consortium: Consortium; consortiumId?: undefined } | { consortiumId: Input<string>; consortium?: undefined };

/** The environment, as the resource, or by its id and that of its consortium. */
export type InEnvironment =
  | { environment: Environment; environmentId?: undefined; consortiumId?: undefined }
  | { environmentId: Input<string>; consortiumId: Input<string>; environment?: undefined };

/** The membership, as the resource or by its id. */
export type OfMembership =
  { membership: Membership; membershipId?: undefined } | { membershipId: Input<string>; membership?: undefined };

interface Parents {
  consortium?: Consortium;
  consortiumId?: Input<string>;
  environment?: Environment;
  environmentId?: Input<string>;
  membership?: Membership;
  membershipId?: Input<string>;
}

type Flat<T> = Omit<T, "consortium" | "environment" | "membership"> & Record<string, Input<unknown>>;

/** Two ways to name one parent. */
const sameParent = [
  ["consortium", "consortiumId"],
  ["environment", "environmentId"],
  ["membership", "membershipId"],
] as const;

/** @throws where a parent is given twice: one of them would be ignored. */
function refuseBoth(what: string, args: Parents): void {
  const twice = sameParent.find((pair) => pair.every((key) => args[key] !== undefined));
  if (twice) throw new RunError(`${what}: ${twice[0]} and ${twice[1]} are both given. Give ${twice[0]} alone.`);
}

/** Turns parents that are given as resources into ids; everything else stays as it is. */
export function flatten<T extends Parents>(what: string, args: T): Flat<T> {
  refuseBoth(what, args);
  const { consortium, environment, membership, ...rest } = args;
  const ids: Record<string, Output<string>> = {};
  if (consortium) ids.consortiumId = consortium.id;
  if (environment) Object.assign(ids, { environmentId: environment.id, consortiumId: environment.consortiumId });
  if (membership) ids.membershipId = membership.id;
  return { ...rest, ...ids };
}
