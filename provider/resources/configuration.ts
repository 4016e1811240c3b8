import { z } from "zod";
import { ConfigurationObject } from "../api";
import { type Definition } from "../core/definition";
import { field } from "../core/field";
import {
  common,
  configurations,
  consortiumId,
  environmentId,
  membershipId,
  nameText,
  objectOf,
  outputs,
  requiredText,
} from "./fields";

export const configuration: Definition = {
  type: "Configuration",
  title: "configuration",
  doc: "Settings for one member's nodes. Each has a type: a node refers to one for its client, one for its keys, one for its backups.",
  inputs: z.strictObject({
    consortiumId: consortiumId(),
    environmentId: environmentId(),
    membershipId: membershipId("Id of the membership that owns it."),
    type: field(requiredText("type", "it", "node_config"), "What it sets, by the service's own name.", {
      seen: ["node_config"],
      onChange: "replace",
    }),
    name: field(nameText("name"), "Name of the configuration.", { default: "the name of the resource" }),
    details: field(
      objectOf("details", "settings").optional(),
      'The settings, by the names of the type: `{ gas_price: "1" }` of a `node_config`. They are not read back.',
      { default: "none", secret: true, visibility: "writeOnly" },
    ),
    ...common(),
  }),
  outputs: outputs({}),
  wire: ConfigurationObject,
  naming: ["name"],
  isNamedById: true,
  place: configurations,
  steps: { onImport: "the service does not show the details: the next `up` sends the program's." },
};
