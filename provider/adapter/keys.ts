/*
 * Inputs of a resource that are none of its own: what a program and an adapter tell each other. Imports nothing, for the programs.
 */

/** The code of a dynamic provider; the state has to keep it. */
export const providerKey = "__provider";

/** Says that this is a preview, which the host of dynamic providers does not tell. `check` takes it away again. */
export const previewKey = "__preview";

/** The environments of a consortium that a network file makes: each with its logical name and after it the earlier ones. */
export const environmentsKey = "__environments";

/** Where the inputs hold secrets, each a path: the host of dynamic providers and policies are told the values alone. */
export const secretsKey = "__secrets";

/** Which version of this package the program has: the plugin refuses another one than its own. */
export const programKey = "__program";

/** Name of the explicit provider that the program gives it, where a request does not say. */
export const providerNameKey = "__providerName";

/**
 * Which resource of the program it is, where a request does not say: its logical name, and the types of its parents after it
 * where it has any.
 */
export const logicalNameKey = "__logicalName";
