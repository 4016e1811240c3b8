// @ts-check
/** Common errors of each resource: rows of docs/troubleshooting.md, each raised by a test. */

const taken = "the name is already taken by …";
const limit = "The organization has reached its limit";
const fixed = "this service cannot change … in place";
const slow = "exists, but is not ready";
const memberless = "the membership is missing";

/** Beginnings of the errors of each resource. @type {Record<string, string[]>} */
const typical = {
  Consortium: [taken, limit, fixed],
  Membership: [taken, "The API key from … is not allowed to do this"],
  ConsortiumZone: [taken],
  Invitation: [taken, "The API key from … is not allowed to do this"],
  Environment: [taken, limit, fixed, slow],
  EnvironmentZone: [taken],
  Configuration: [memberless, taken, fixed],
  Node: [memberless, taken, limit, fixed, slow, 'went to the state "failed"'],
  AppCred: [memberless, fixed],
  Service: [memberless, taken, fixed, slow],
  Destination: [taken],
  TetherService: ["has 0 wei on …", "it is not known whether the contract was deployed"],
};

/** @param {string} type @param {string} troubleshooting docs/troubleshooting.md as it is */
export function errorsOf(type, troubleshooting) {
  const sections = troubleshooting.split(/^## /m);
  const rows = (typical[type] ?? []).map((beginning) => {
    const section = sections.find((one) => one.includes(`\n- \`${beginning}`));
    const line = section?.split("\n").find((one) => one.startsWith(`- \`${beginning}`));
    if (section === undefined || line === undefined)
      throw new Error(`docs/troubleshooting.md has no error \`${beginning}\``);
    const [, error = ""] = /^- (`.*?`): /.exec(line) ?? [];
    const [heading = ""] = section.split("\n");
    return `- [${error}](../troubleshooting.md#${heading.toLowerCase().replaceAll(" ", "-")})`;
  });
  return `## Errors to expect

${rows.join("\n")}

`;
}
