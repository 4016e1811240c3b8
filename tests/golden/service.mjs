// @ts-check
/** The service of the golden states, but for its data: the same organization, key and tether at every start, on any port. */
export const golden = {
  organizations: [{ name: "golden", apiKey: "golden-key" }],
  tethers: [{ id: "t0golden00", organization: "golden" }],
  timing: { environmentStart: 100, nodeStart: 200, deletedVisible: 100 },
};
