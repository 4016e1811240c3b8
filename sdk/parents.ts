import { type CustomResource, type Input, type Output, RunError } from "@pulumi/pulumi";
import { type ConsortiumProperties, type EnvironmentProperties, type MembershipProperties } from "./generated";
import { type Outputs } from "./properties";

type Consortium = CustomResource & Outputs<ConsortiumProperties>;
type Environment = CustomResource & Outputs<EnvironmentProperties>;
type Membership = CustomResource & Outputs<MembershipProperties>;

/** The consortium, as the resource or by its id. */
export type InConsortium =
  | {
      /** Consortium it belongs to. */
      consortium: Consortium;
      consortiumId?: undefined;
    }
  | {
      /** Id of the consortium it belongs to, instead of `consortium`. */
      consortiumId: Input<string>;
      consortium?: undefined;
    };

/** The environment, as the resource, or by its id and that of its consortium. */
export type InEnvironment =
  | {
      /** Environment it belongs to; the consortium follows from it. */
      environment: Environment;
      environmentId?: undefined;
      consortiumId?: undefined;
    }
  | {
      /** Id of the environment it belongs to, instead of `environment`; needs `consortiumId`, too. */
      environmentId: Input<string>;
      /** Id of the consortium that the environment belongs to. */
      consortiumId: Input<string>;
      environment?: undefined;
    };

/** The membership, as the resource or by its id. */
export type OfMembership =
  | {
      /** Membership that owns it. */
      membership: Membership;
      membershipId?: undefined;
    }
  | {
      /** Id of the membership that owns it, instead of `membership`. */
      membershipId: Input<string>;
      membership?: undefined;
    };

interface Parents {
  consortium?: Consortium;
  consortiumId?: Input<string>;
  environment?: Environment;
  environmentId?: Input<string>;
  membership?: Membership;
  membershipId?: Input<string>;
}

type Flat<T> = Omit<T, "consortium" | "environment" | "membership"> & Record<string, Input<unknown>>;

/** Turns parents that are given as resources into ids. @throws where one is given twice: one of both would be ignored */
export function flatten<T extends Parents>(what: string, args: T): Flat<T> {
  const { consortium, environment, membership, ...rest } = args;
  for (const [key, parent] of Object.entries({ consortium, environment, membership })) {
    if (parent && args[`${key}Id` as keyof Parents] !== undefined)
      throw new RunError(`${what}: ${key} and ${key}Id are both given. Give ${key} alone.`);
  }
  const ids: Record<string, Output<string>> = {};
  if (consortium) ids.consortiumId = consortium.id;
  if (environment) Object.assign(ids, { environmentId: environment.id, consortiumId: environment.consortiumId });
  if (membership) ids.membershipId = membership.id;
  return { ...rest, ...ids };
}
