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
