/*
 * Generated from the resource definitions (provider/resources/) by `npm run generate`. Do not edit.
 * The objects of the service, read tolerantly: see wire.ts.
 */
import { z } from "zod";
import { flag, identified, integer, object, text } from "./wire";

export const ConsortiumObject = identified({ name: text, description: text, owner: text });
export type ConsortiumObject = z.infer<typeof ConsortiumObject>;

export const MembershipObject = identified({ org_name: text, org_id: text, minimum_nodes: integer, maximum_nodes: integer });
export type MembershipObject = z.infer<typeof MembershipObject>;

export const ConsortiumZoneObject = identified({ name: text, region: text, cloud: text, type: text });
export type ConsortiumZoneObject = z.infer<typeof ConsortiumZoneObject>;

export const InvitationObject = identified({ org_name: text, email: text });
export type InvitationObject = z.infer<typeof InvitationObject>;

export const EnvironmentObject = identified({ provider: text, consensus_type: text, name: text, description: text, chain_id: integer, release_id: text, paused: flag, block_period: integer, region: text, initial_delay: integer, idle_hours: integer, enable_tether: flag });
export type EnvironmentObject = z.infer<typeof EnvironmentObject>;

export const EnvironmentZoneObject = identified({ name: text, region: text, cloud: text, type: text, bridge_id: text });
export type EnvironmentZoneObject = z.infer<typeof EnvironmentZoneObject>;

export const ConfigurationObject = identified({ membership_id: text, type: text, name: text });
export type ConfigurationObject = z.infer<typeof ConfigurationObject>;

export const NodeObject = identified({ membership_id: text, name: text, role: text, size: text, zone_id: text, kms_id: text, opsmetric_id: text, backup_id: text, networking_id: text, node_config_id: text, baf_id: text, database_type: text, provider: text, consensus_type: text, first_user_account: text, hybrid_port_allocation: integer });
export type NodeObject = z.infer<typeof NodeObject>;

export const AppCredObject = identified({ membership_id: text, name: text, username: text, auth_type: text });
export type AppCredObject = z.infer<typeof AppCredObject>;

/** The answer to its creation, the only one that shows all of it. */
export const CreatedAppCredObject = identified({ membership_id: text, name: text, username: text, auth_type: text, password: z.string().min(1) });
export type CreatedAppCredObject = z.infer<typeof CreatedAppCredObject>;

export const ServiceObject = identified({ membership_id: text, service: text, name: text, zone_id: text, size: text, details: object, service_type: text, urls: object, hybrid_port_allocation: integer });
export type ServiceObject = z.infer<typeof ServiceObject>;

export const DestinationObject = identified({ name: text, kaleido_managed: flag, uri: text, setup_complete: flag }, "name");
export type DestinationObject = z.infer<typeof DestinationObject>;
