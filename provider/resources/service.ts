import { z } from "zod";
import { ServiceObject } from "../api";
import { type Definition, type Props } from "../core/definition";
import { field } from "../core/field";
import { sameValue } from "../core/values";
import {
  common,
  consortiumId,
  environmentId,
  idOf,
  membershipId,
  nameText,
  objectOf,
  optionalText,
  outputs,
  requiredText,
  services,
} from "./fields";

/** Whether all members share it. The service does not show who uses one. */
export const isUtility = ({ serviceType }: Props): boolean => String(serviceType).toLowerCase() === "utility";

export const service: Definition = {
  type: "Service",
  title: "service",
  doc:
    "A service beside the ledger of an environment, such as `ipfs`. A utility service, such as `idregistry`, exists once " +
    "for all members: adopt the existing one with `adopt: true`.",
  inputs: z.strictObject({
    consortiumId: consortiumId(),
    environmentId: environmentId(),
    membershipId: membershipId("Id of the membership that owns it."),
    service: field(requiredText("service", "its type", "ipfs"), "Type of the service.", {
      seen: ["idregistry", "ipfs", "documentstore", "dataexchange", "hdwallet", "app2app", "tether"],
      onChange: "replace",
    }),
    name: field(nameText("name"), "Name of the service.", { default: "the name of the resource" }),
    zoneId: idOf("zone", "the environment's zone that it runs in", { onChange: "replace" }),
    size: field(optionalText("size"), "Size of the machine.", {
      seen: ["small"],
      default: "the service chooses",
      computed: true,
      onChange: "restart",
    }),
    details: field(
      objectOf("details", "settings").optional(),
      "Settings, under the names of the service's type. Settings that the service adds do not count as a change.",
      { default: "the service chooses", computed: true, onChange: "restart" },
    ),
    ...common("the service with this name, or the utility service of this type,"),
  }),
  outputs: outputs({
    serviceType: field(
      z.string().optional(),
      "`member` for a service of one member, `utility` for one that all members share.",
    ),
    urls: field(z.record(z.string(), z.string()).optional(), "Addresses of the service, by name of the endpoint."),
    hybridPortAllocation: field(z.number().int().optional(), "Port that a hybrid deployment gives it."),
  }),
  timeouts: { create: 1800, update: 1800, delete: 1800 },
  wire: ServiceObject,
  naming: ["name"],
  shownLater: ["urls"],
  isNamedById: true,
  place: services,
  shared: {
    applies: isUtility,
    fits: ["service"],
    isSame: (inputs, shown) => isUtility(shown) && sameValue(shown.service, inputs.service),
  },
};
