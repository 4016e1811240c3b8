// @ts-check
/** The page with the arguments of the Terraform provider for the same API, and their names here. */
import { table } from "./markdown.mjs";
import { built } from "./types.mjs";

const { terraformDataSources, terraformResources } = built("plugin/terraform.js");
const { definitions } = built("provider/resources/index.js");

/** @typedef {import("../../plugin/terraform.js").TerraformArgument} Argument */

const camel = (/** @type {string} */ name) =>
  name.replace(/_([a-z])/g, (_, /** @type {string} */ letter) => letter.toUpperCase());

/** @param {[string, Argument]} argument @returns {string} its equivalent here; "": the same in camel case */
function hereOf([name, { to, note }]) {
  if (note !== undefined) return note;
  return to === undefined || to === camel(name) ? "" : `\`${to}\``;
}

export function terraformPage() {
  const rows = Object.entries(terraformResources).flatMap(([type, { kind, arguments: all, differs }]) => {
    /** @type {Map<string, string[]>} */
    const byHere = new Map();
    for (const argument of Object.entries(all)) {
      const here = hereOf(/** @type {[string, Argument]} */ (argument));
      byHere.set(here, [...(byHere.get(here) ?? []), `\`${argument[0]}\``]);
    }
    const { "": same = [], ...others } = Object.fromEntries(byHere);
    const what = `${definitions[kind].type}, \`${type}\``;
    return [
      [what, same.join(", "), "the same in camel case"],
      ...Object.entries(others).map(([here, names]) => ["", names.join(", "), here]),
      ...(differs ? [["", ...differs]] : []),
    ];
  });
  const known = Object.values(terraformResources).map(({ kind }) => kind);
  const more = Object.entries(definitions).filter(([kind]) => !known.includes(kind));
  const lacking = more.map(([, { type }]) => [type, "none", "all of it"]);
  const sources = Object.entries(terraformDataSources).map(([type, { arguments: all }]) => {
    const names = Object.keys(all).map((name) => `\`${name}\``);
    return [`none, data source \`${type}\``, names.join(", "), "none: download the file from the console"];
  });
  return `<!-- Generated from plugin/terraform.ts by \`npm run generate\`. -->

# Arguments in Terraform

Arguments of the Terraform provider \`kaleido-io/kaleido\` 1.3.1, and their names here. \`pulumi convert --from terraform\` and
\`pulumi import --from terraform\` ask the provider plugin for the same table. In place of each id, programs in TypeScript can pass the
resource. [Moving from Terraform](../terraform.md) shows the steps.

${table(["`resource`", "in Terraform", "here"], [...rows, ...sources, ...lacking])}

## Ids

\`terraform state show\` prints an \`id\`, and with it \`consortium_id\` and \`environment_id\`. \`adopt: "<id>"\` takes the id, and
\`pulumi import\` the id or a path. Each part of a path is an id or a name.

| Terraform | here | path | alone |
| --- | --- | --- | --- |
| \`kaleido_consortium\` | \`Consortium\` | \`consortium\` | id, name |
| \`kaleido_membership\` | \`Membership\` | \`consortium/membership\` | id |
| \`kaleido_czone\` | \`ConsortiumZone\` | \`consortium/zone\` | id |
| \`kaleido_invitation\` | \`Invitation\` | \`consortium/invitation\` | id |
| \`kaleido_environment\` | \`Environment\` | \`consortium/environment\` | id |
| \`kaleido_ezone\` | \`EnvironmentZone\` | \`consortium/environment/zone\` | id |
| \`kaleido_configuration\` | \`Configuration\` | \`consortium/environment/configuration\` | id |
| \`kaleido_node\` | \`Node\` | \`consortium/environment/node\` | id |
| \`kaleido_app_creds\` | \`AppCred\` | \`consortium/environment/credential\` | id |
| \`kaleido_service\` | \`Service\` | \`consortium/environment/service\` | id |
| \`kaleido_destination\` | \`Destination\` | \`consortium/environment/service/destination\` | its name, if only one has it |
| none | \`TetherService\` | its id, or the address of it in the console | id |

You may not be able to import credentials that the service does not list (create new ones), and a tether that it does not show
completely (declare it without an import; its \`tetherId\` identifies it).
`;
}
