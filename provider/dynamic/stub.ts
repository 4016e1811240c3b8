/**
 * The text that the state holds as `__provider`, and that the host runs for every verb, also after years:
 * as short as can be, the same for all resources of a type, and without anything of one machine or one program.
 */
export const stub = (name: string): string => `exports.handler=()=>require("pulumi-consortium/runtime").${name}`;
