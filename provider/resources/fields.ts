import { z } from "zod";
import { field } from "../core/field";

/*
 * Fields that several resources have, made anew for each: metadata sits on the schema object.
 */

const say = (what: string) => `${what} must be text that is not empty`;

/** A name as people write it. */
export const nameText = (what: string) =>
  z
    .string({ error: `${what} is required: give it as text` })
    .refine((text) => text.trim() !== "", say(what))
    .max(256, `${what} has at most 256 characters`);

/** The id of a parent; the remedy names the two ways to give it. */
export const parentId = (what: string, remedy: string) =>
  z.string({ error: `${what} is missing: ${remedy}` }).min(1, `${what} is empty: ${remedy}`);

export const consortiumId = () =>
  field(
    parentId("the consortium", "give consortium: (the resource) or consortiumId: (its id)"),
    "Id of the consortium it belongs to; in programs also `consortium`, the resource.",
    { replace: true, parent: "path" },
  );

export const environmentId = () =>
  field(
    parentId("the environment", "give environment: (the resource), or environmentId: and consortiumId: (ids)"),
    "Id of the environment it belongs to; in programs also `environment`, the resource.",
    { replace: true, parent: "path" },
  );

export const membershipId = (doc: string) =>
  field(
    parentId("the membership", "give membership: (the resource) or membershipId: (its id)"),
    `${doc} In programs also \`membership\`, the resource.`,
    { replace: true, parent: "body" },
  );

export const description = () =>
  field(
    z.string({ error: "description must be text" }).optional(),
    "What it is for, in words for people. Default: none.",
  );

export const adopt = () =>
  field(
    z.union([z.boolean(), z.string().min(1)], { error: "adopt is true, false, or the id to adopt" }).optional(),
    "`true` adopts the one with this name, if there is one; an id adopts that one or fails. Default: `false`: a name that is taken is an error.",
    { local: true, uncompared: true },
  );

export const extra = () =>
  field(
    z.record(z.string(), z.unknown(), { error: "extra is an object of fields" }).optional(),
    "Fields for the create call beyond those documented here, under the service's own names, sent as they are.",
    { local: true, replace: true },
  );

const seconds = z.number().positive().optional();

/** From the resource option of that name, since the host does not hand it on. Not an argument. */
export const customTimeouts = () =>
  field(
    z.strictObject({ create: seconds, update: seconds, delete: seconds }).optional(),
    "Seconds that creating, updating and deleting may take; set with the resource option `customTimeouts`.",
    { local: true },
  );

export const output = {
  state: () => field(z.string().optional(), "State last seen, in the service's own words."),
  revision: () => field(z.string().optional(), "Counter that rises with every change, from `0`."),
  createdAt: () => field(z.string().optional(), "When it was created: ISO 8601, UTC."),
};

/** States that pass by themselves: `initializing` in the spec, and what services call the same. */
export const pendingStates = ["initializing", "pending", "creating", "provisioning", "starting"] as const;

/** States that a service may be in besides those that the spec names. */
export const failedStates = ["failed", "error", "errored"] as const;
