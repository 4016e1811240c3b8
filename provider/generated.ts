/*
 * Generated from the resource definitions (provider/resources/) by `npm run generate`. Do not edit.
 */

/** The kinds of objects, parents before children, each with its class and its name for people. */
export const kinds = {
  consortium: { className: "Consortium", title: "consortium" },
  membership: { className: "Membership", title: "membership" },
  consortiumZone: { className: "ConsortiumZone", title: "zone" },
  invitation: { className: "Invitation", title: "invitation" },
  environment: { className: "Environment", title: "environment" },
  environmentZone: { className: "EnvironmentZone", title: "zone" },
  configuration: { className: "Configuration", title: "configuration" },
  node: { className: "Node", title: "node" },
  appCred: { className: "AppCred", title: "credential" },
  service: { className: "Service", title: "service" },
  destination: { className: "Destination", title: "destination" },
  tetherService: { className: "TetherService", title: "tether service" },
} as const;
