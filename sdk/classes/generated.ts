/*
 * Generated from the resource definitions (provider/resources/) by `npm run generate`. Do not edit.
 * The classes of kinds that need no code of their own: see sdk/resources.ts.
 */
import {
  type AppCredFields,
  type AppCredProperties,
  type ConsortiumZoneFields,
  type ConsortiumZoneProperties,
  type InvitationFields,
  type InvitationProperties,
  type Outputs,
} from "../generated";
import { type InConsortium, type InEnvironment, type OfMembership, readable } from "../resources";

export type ConsortiumZoneArgs = ConsortiumZoneFields & InConsortium;

export interface ConsortiumZone extends Outputs<ConsortiumZoneProperties> {}

/** Where environments of a consortium may run: a region of a cloud. See docs/reference/consortium-zone.md. */
export class ConsortiumZone extends readable<ConsortiumZone, ConsortiumZoneArgs, InConsortium>("ConsortiumZone") {}

export type InvitationArgs = InvitationFields & InConsortium;

export interface Invitation extends Outputs<InvitationProperties> {}

/** Invites a business of another organization to a consortium, by e-mail. See docs/reference/invitation.md. */
export class Invitation extends readable<Invitation, InvitationArgs, InConsortium>("Invitation") {}

export type AppCredArgs = AppCredFields & InEnvironment & OfMembership;

export interface AppCred extends Outputs<AppCredProperties> {}

/** Username and password for the runtime endpoints of one member's nodes in one environment, and nothing else. See docs/reference/app-cred.md. */
export class AppCred extends readable<AppCred, AppCredArgs, InEnvironment>("AppCred") {}
