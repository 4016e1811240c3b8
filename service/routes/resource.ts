import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { gone } from "./responses";
import { organizationOf } from "../http/authentication";
import type { Context } from "../context";
import type { Entity, FieldsOf, ManagedKind, Wire } from "../store/entities";
import type { Limits } from "../settings/limits";

/** What a creation works with. */
export interface Making {
  context: Context;
  organization: Entity<"organization">;
  /** What it is created in: the consortium, and below it the environment. */
  consortium: Entity<"consortium">;
  environment: Entity<"environment">;
}

/** What is special about one kind of object; crud.ts makes its endpoints from it. */
export interface Resource<K extends ManagedKind = ManagedKind, Shape extends z.ZodRawShape = z.ZodRawShape> {
  kind: K;
  /** The kinds whose ids come first in the path, outermost first. */
  parents: readonly ManagedKind[];
  create: z.ZodObject<Shape>;
  patch: z.ZodObject;
  /** Query parameters that filter a list by the field of that name. */
  filters?: readonly string[];
  limit?: keyof Limits;
  /** Checks what zod cannot, and answers what to keep. `once` is shown in this answer only. */
  make(making: Making, body: z.output<z.ZodObject<Shape>>): { id?: string; fields: FieldsOf[K]; once?: object };
  /** What else happens once it is there. */
  made?(context: Context, entity: Entity<K>): void;
  /** The object as the API shows it. */
  view(context: Context, entity: Entity<K>, at: number): Wire;
  /** Why it cannot be deleted as it is. */
  blocker?(context: Context, entity: Entity<K>): string | undefined;
}

/** Keeps the types of one row, and lets the table hold all of them. */
export const resource = <K extends ManagedKind, S extends z.ZodRawShape>(row: Resource<K, S>) =>
  row as unknown as Resource;

export const labelOf = (kind: ManagedKind) => (kind === "credential" ? "application credential" : kind);

const paths: Record<ManagedKind, string> = {
  consortium: "/consortia",
  membership: "/memberships",
  environment: "/environments",
  node: "/nodes",
  credential: "/appcreds",
};

/** `/consortia/:consortiumId/environments`, say. */
export const listPath = (row: Pick<Resource, "parents" | "kind">) =>
  [...row.parents.map((kind) => `${paths[kind]}/:${kind}Id`), paths[row.kind]].join("");
export const itemPath = (row: Pick<Resource, "parents" | "kind">) => `${listPath(row)}/:${row.kind}Id`;

/** Follows the ids of a path from the organization down; each must be in the one before. */
export function reach(context: Context, request: FastifyRequest, kinds: readonly ManagedKind[]): Entity[] {
  const organization = organizationOf(request);
  const params = request.params as Record<string, string>;
  const found: Entity[] = [organization];
  for (const kind of kinds) {
    const id = params[`${kind}Id`] ?? "";
    const entity = context.store.get(kind, id);
    if (!entity || entity.parent !== found.at(-1)!.id) throw gone(context, kind, id);
    found.push(entity);
  }
  return found;
}
