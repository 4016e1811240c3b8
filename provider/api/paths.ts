/** Builds a path from a template and encodes each value: path`/consortia/${id}/nodes`. An empty value is a defect. */
export function path(strings: TemplateStringsArray, ...values: (string | number)[]): string {
  return String.raw(
    { raw: strings },
    ...values.map((value) => {
      // "." and ".." survive encodeURIComponent and would climb to another resource.
      if (value === "" || value === "." || value === "..") throw new Error(`"${value}" cannot be part of a path`);
      return encodeURIComponent(value);
    }),
  );
}

/** Every path of the API after the base address (spec, section 4, and what other clients call). */
export const paths = {
  consortia: "/consortia",
  memberships: (consortiumId: string) => path`/consortia/${consortiumId}/memberships`,
  environments: (consortiumId: string) => path`/consortia/${consortiumId}/environments`,
  invitations: (consortiumId: string) => path`/consortia/${consortiumId}/invitations`,
  /** Zones of an environment, or of the consortium itself. */
  zones: (consortiumId: string, environmentId?: string) =>
    environmentId === undefined
      ? path`/consortia/${consortiumId}/zones`
      : path`/consortia/${consortiumId}/environments/${environmentId}/zones`,
  nodes: (consortiumId: string, environmentId: string) =>
    path`/consortia/${consortiumId}/environments/${environmentId}/nodes`,
  appcreds: (consortiumId: string, environmentId: string) =>
    path`/consortia/${consortiumId}/environments/${environmentId}/appcreds`,
  configurations: (consortiumId: string, environmentId: string) =>
    path`/consortia/${consortiumId}/environments/${environmentId}/configurations`,
  services: (consortiumId: string, environmentId: string) =>
    path`/consortia/${consortiumId}/environments/${environmentId}/services`,
  destinations: (serviceType: string, serviceId: string) => path`/${serviceType}/${serviceId}/destinations`,
  identity: (registryId: string) => path`/idregistry/${registryId}/identity`,
  releases: "/releases",
  apiKeys: "/apikeys",
  organizations: "/orgs",
  /** Memberships of the key's organization, in all consortia. */
  ownMemberships: "/memberships",
  /** One object of a collection. */
  item: (collection: string, id: string) => collection + path`/${id}`,
  /** A list inside an object of this collection that every service has (spec, section 4.1). undefined: there is none. */
  inside: (collection: string, id: string): string | undefined => {
    if (collection === "/consortia") return path`/consortia/${id}/environments`;
    return /^\/consortia\/[^/]+\/environments$/.test(collection) ? collection + path`/${id}/nodes` : undefined;
  },
  tethers: "/tether",
  tether: (tetherId: string) => path`/tether/${tetherId}`,
};

/** The path without its ids, which are every second part. */
export const templateOf = (of: string): string =>
  of
    .split("/")
    .map((part, index) => (index > 0 && index % 2 === 0 ? "{id}" : part))
    .join("/");
