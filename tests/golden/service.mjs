// @ts-check
/** The providers that the golden states are of. Each has an organization of its own in the same data. */
export const adapters = /** @type {const} */ (["dynamic", "plugin"]);

/** @param {(typeof adapters)[number]} adapter */
export const keyOf = (adapter) => `golden-${adapter}-key`;

/** The tether of a state, of ten characters. @param {(typeof adapters)[number]} adapter @param {"stack" | "interrupted"} state */
export const tetherOf = (adapter, state) => `t${state === "stack" ? 0 : 1}${adapter}`.padEnd(10, "0");

/** The service of the golden states, but for its data: the same organizations, keys and tethers at every start, on any port. */
export const golden = {
  organizations: adapters.map((adapter) => ({ name: adapter, apiKey: keyOf(adapter) })),
  tethers: adapters.flatMap((organization) =>
    /** @type {const} */ (["stack", "interrupted"]).map((state) => ({
      id: tetherOf(organization, state),
      organization,
    })),
  ),
  limits: { consortia: 3 },
  timing: { environmentStart: 100, nodeStart: 200, deletedVisible: 100 },
};
