/** Builds a path from a template, each value encoded: path`/consortia/${id}/nodes`. An empty value is a defect. */
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

/** Every path of the API (spec, section 4), after the base address. */
export const paths = {
  consortia: "/consortia",
  memberships: (consortiumId: string) => path`/consortia/${consortiumId}/memberships`,
  environments: (consortiumId: string) => path`/consortia/${consortiumId}/environments`,
  nodes: (consortiumId: string, environmentId: string) =>
    path`/consortia/${consortiumId}/environments/${environmentId}/nodes`,
  appcreds: (consortiumId: string, environmentId: string) =>
    path`/consortia/${consortiumId}/environments/${environmentId}/appcreds`,
  /** One object of a collection. */
  item: (collection: string, id: string) => collection + path`/${id}`,
  tethers: "/tether",
  tether: (tetherId: string) => path`/tether/${tetherId}`,
};
