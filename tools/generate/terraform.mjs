// @ts-check
/** docs/reference/terraform.md: which argument corresponds to which of the Terraform provider `kaleido-io/kaleido` 1.3.1. */
import { table } from "./markdown.mjs";
import { propertiesOf } from "./types.mjs";

const retained = "`adopt: true`, with the resource option `retainOnDelete`";

/**
 * Each kind: its resource in Terraform, arguments that have the same name here, but in camel case, and the others.
 * @type {Record<string, { from: string, same: string, others?: [string, string][] }>}
 */
const kinds = {
  Consortium: {
    from: "kaleido_consortium",
    same: "name description",
    others: [["`shared_deployment`", retained]],
  },
  Membership: {
    from: "kaleido_membership",
    same: "consortium_id org_name",
    others: [["`pre_existing`", retained]],
  },
  Environment: {
    from: "kaleido_environment",
    same: "consortium_id name description consensus_type chain_id block_period release_id multi_region prefunded_accounts",
    others: [
      ["`env_type`", "`provider`"],
      ["`shared_deployment`", retained],
      ["`test_features_json`", "`testFeatures`, an object; a change replaces"],
    ],
  },
  Node: {
    from: "kaleido_node",
    same: "consortium_id environment_id membership_id name size kms_id opsmetric_id backup_id networking_id node_config_id baf_id role zone_id database_type first_user_account hybrid_port_allocation",
    others: [
      ["`remote`", "[`extra`](../coverage.md#fields-without-an-argument)"],
      ["`urls`, `https_url`, `websocket_url`", "`urls.rpc`, `urls.wss`"],
    ],
  },
  AppCred: {
    from: "kaleido_app_creds",
    same: "consortium_id environment_id membership_id name",
    others: [["`password` (plain text in the state)", "`password`, `basicAuthHeader` (encrypted in the state)"]],
  },
  ConsortiumZone: {
    from: "kaleido_czone",
    same: "consortium_id name region cloud type",
    others: [["shares an existing zone, never deletes one", "`adopt: true`: an adopted zone stays"]],
  },
  EnvironmentZone: {
    from: "kaleido_ezone",
    same: "consortium_id environment_id name region cloud type bridge_id",
    others: [["shares an existing zone, never deletes one", "`adopt: true`: an adopted zone stays"]],
  },
  Configuration: {
    from: "kaleido_configuration",
    same: "consortium_id environment_id membership_id name type",
    others: [["`details_json`", "`details`, an object; a secret"]],
  },
  Service: {
    from: "kaleido_service",
    same: "consortium_id environment_id membership_id name zone_id size hybrid_port_allocation",
    others: [
      ["`service_type`", "`service`"],
      ["`details_json`", "`details`, an object"],
      ["`shared_deployment`", "`adopt: true`: an adopted utility service stays"],
      ["`urls`, `https_url`, `websocket_url`, `webui_url`", "`urls`"],
      ["`update_trigger`", "none: a change of `size` or `details` restarts the service"],
    ],
  },
  Destination: {
    from: "kaleido_destination",
    same: "service_type service_id consortium_id membership_id name kaleido_managed",
    others: [
      ["`idregistry_id`", "`idRegistryId`"],
      ["`auto_verify_membership`", "`testCertificate: true`"],
    ],
  },
  Invitation: { from: "kaleido_invitation", same: "consortium_id org_name email" },
};

const code = (/** @type {string} */ text) => `\`${text}\``;
const camel = (/** @type {string} */ text) => text.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
const list = (/** @type {string[]} */ names) => names.map(code).join(", ");

/** @param {Record<string, any>} definitions @returns {string} docs/reference/terraform.md */
export function terraformPage(definitions) {
  const rows = Object.values(definitions).flatMap(({ type, inputs, outputs }) => {
    const kind = kinds[type];
    if (!kind) return [[type, "none", "all of it"]];
    const known = [...propertiesOf(inputs, "input"), ...propertiesOf(outputs, "output")].map(({ key }) => key);
    const same = kind.same.split(" ");
    const missing = same.filter((name) => !known.includes(camel(name)));
    if (missing.length > 0) throw new Error(`${type} has no ${missing.join(", ")} (tools/generate/terraform.mjs)`);
    return [
      [`${type}, ${code(kind.from)}`, list(same), "the same in camel case"],
      ...(kind.others ?? []).map(([theirs, ours]) => ["", theirs, ours]),
    ];
  });
  return `<!-- Generated from provider/resources/ and tools/generate/terraform.mjs by \`npm run generate\`. -->

# Arguments in Terraform

Arguments of the Terraform provider \`kaleido-io/kaleido\` 1.3.1, and what they are called here. In place of each id, programs can
pass the resource. [Moving from Terraform](../terraform.md) shows the steps.

${table(["`resource`", "in Terraform", "here"], rows)}
`;
}
