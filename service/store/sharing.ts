import type { Base } from "../context";
import { Refusal, ServiceError } from "../errors";
import type { Settings } from "../settings/settings";
import type { Entity, FieldsOf, Kind } from "./entities";

/*
 * An organization that accepted an invitation is a member of another one's consortium: it sees all objects there, and changes only its
 * own.
 */

/** Kinds that only the owning organization sees. */
const privateKinds = new Set<Kind>(["credential", "configuration", "invitation"]);
/** Kinds that only the organization of the consortium creates there. */
const ownersKinds = new Set<Kind>(["membership", "environment", "invitation"]);

const isMember = ({ store }: Base, organization: string, consortium: string): boolean =>
  store.children("membership", consortium).some((membership) => membership.organization === organization);

/** Whether an organization sees an object, if it sees the parent. */
export function sees(base: Base, organization: string, entity: Entity): boolean {
  if (entity.organization === organization) return true;
  return entity.kind === "consortium" ? isMember(base, organization, entity.id) : !privateKinds.has(entity.kind);
}

/** Other organizations' consortia that an organization is a member of, as in a list. */
export function sharedWith({ store }: Base, organization: string, at: number): Entity<"consortium">[] {
  const memberships = store.all("membership").filter((membership) => membership.organization === organization);
  return [...new Set(memberships.map(({ parent }) => parent))].flatMap((id) => {
    const consortium = store.get("consortium", id);
    if (!consortium || consortium.organization === organization) return [];
    return store.listed("consortium", consortium.parent, at).filter((one) => one.id === id);
  });
}

/** Refuses a change of another organization's object. */
export function refuseOthers(organization: string, entity: Entity): void {
  if (entity.organization !== organization)
    throw new Refusal(
      403,
      `The ${entity.kind} ${entity.id} belongs to another organization, and only that organization may change it.`,
    );
}

/** Refuses objects that only the consortium's own organization may create in it. */
export function refuseMakingIn(organization: string, kind: Kind, parent: Entity): void {
  if (ownersKinds.has(kind) && parent.kind === "consortium" && parent.organization !== organization)
    throw new Refusal(403, `Only the organization of the consortium ${parent.id} can create a new ${kind} in it.`);
}

/** Objects of other organizations in an object, such as `2 node(s)`. */
export function ofOthers({ store }: Base, { id, organization }: Entity, kind: Kind): string | undefined {
  const count = store.children(kind, id).filter((one) => one.organization !== organization).length;
  return count > 0 ? `${count} ${kind}(s) of other organizations` : undefined;
}

/** The invitations that an organization can accept, by its name. */
export const invitationsTo = ({ store }: Base, { id, fields: { name } }: Entity<"organization">) =>
  store
    .all("invitation")
    .filter(({ organization, state, fields }) => organization !== id && state === "sent" && fields.org_name === name);

export const newMembership = ({ limits }: Settings, org_id: string, org_name: string): FieldsOf["membership"] => {
  return { org_name, org_id, minimum_nodes: 0, maximum_nodes: limits.nodes };
};

/** Makes the invited organization a member. Returns its membership. */
export function acceptInvitation(base: Base, invitation: Entity<"invitation">, invited: Entity<"organization">) {
  const { store, settings } = base;
  const { id: organization } = invited;
  if (invitation.state !== "sent")
    throw new ServiceError(`The invitation ${invitation.id} cannot be accepted: it is ${invitation.state}.`);
  if (isMember(base, organization, invitation.parent))
    throw new ServiceError(`The organization ${invited.fields.name} is already a member of this consortium.`);
  const fields = newMembership(settings, organization, invitation.fields.org_name);
  const draft = { kind: "membership", parent: invitation.parent, organization, due: undefined, fields } as const;
  const membership = store.create(draft);
  store.change(invitation, { state: "accepted" });
  return membership;
}
