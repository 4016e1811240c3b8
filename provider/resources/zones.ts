import { z } from "zod";
import { ConsortiumZoneObject, EnvironmentZoneObject } from "../api";
import { Listed } from "../core/collection";
import { type Definition } from "../core/definition";
import { field } from "../core/field";
import { type Deleting, deleting } from "../core/lifecycle/delete";
import { cloudRegions } from "../constants";
import { sameName } from "../core/values";
import {
  common,
  consortiumId,
  consortiumZones,
  environmentId,
  environments,
  environmentZones,
  lowerCase,
  nameText,
  nodes,
  optionalText,
  outputs,
  requiredText,
  services,
} from "./fields";

const required = (what: string, example: string) =>
  requiredText(what, "it", example).max(256, `${what} must have at most 256 characters`);

const inputs = () => ({
  name: field(nameText("name"), "Name of the zone.", { default: "the name of the resource" }),
  region: field(required("region", "us-east-2"), "Region of the cloud, by the cloud's own name, such as `us-east-2`.", {
    seen: Object.values(cloudRegions).flat(),
    onChange: "replace",
    normal: lowerCase,
  }),
  cloud: field(required("cloud", "aws"), "Cloud that it is in.", {
    seen: Object.keys(cloudRegions),
    onChange: "replace",
    normal: lowerCase,
  }),
  type: field(
    required("type", "kaleido").default("kaleido"),
    "Who runs its machines: `kaleido` is the service itself.",
    { default: "`kaleido`", seen: ["kaleido"], onChange: "replace" },
  ),
});

const sharedZone = () => common("the zone of this region and cloud", "one that exists already is an error");

/** The inputs that distinguish a zone from others in its place, whatever its name. */
const identity = ["region", "cloud"];

/** The parts that both kinds of zones share. @param how its exceptions for a deletion */
const zone = (definition: () => Definition, how: Deleting) => ({
  title: "zone",
  outputs: outputs({}),
  naming: identity,
  isNamedById: true,
  shared: { applies: () => true, fits: identity },
  steps: { delete: deleting(definition, how) },
});

const sharing = "One that exists already with the same region and cloud is shared: adopt it with `adopt: true`.";

/** The environments that have such a zone of their own. */
const withZone: Deleting["users"] = async (session, _id, state) => {
  const inside = await new Listed(session, environments(state)).staying(0);
  const used = inside.map(async ({ id }) => {
    const zones = await new Listed(session, environmentZones({ ...state, environmentId: id })).staying(0);
    const same = zones.filter((zone) => identity.every((key) => sameName(zone[key], state[key])));
    return same.map((zone) => ({ what: `the environment ${id} has a zone there (${zone.id})` }));
  });
  return (await Promise.all(used)).flat();
};

/** The nodes and services that run there. */
const running: Deleting["users"] = async (session, id, state) => {
  const places = [["node", nodes(state)] as const, ["service", services(state)] as const];
  const used = places.map(async ([title, place]) => {
    const inside = (await new Listed(session, place).staying(0)).filter(({ zone_id: zone }) => zone === id);
    return inside.map(({ id: user, membership_id: member }) => ({
      what: `the ${title} ${user} runs there`,
      ...(typeof member === "string" && { membershipId: member }),
    }));
  });
  return (await Promise.all(used)).flat();
};

export const consortiumZone: Definition = {
  ...zone(() => consortiumZone, { users: withZone, goesWith: "its consortium" }),
  type: "ConsortiumZone",
  doc: `Where environments of a consortium may run: a region of a cloud. ${sharing}`,
  inputs: z.strictObject({ consortiumId: consortiumId(), ...inputs(), ...sharedZone() }),
  wire: ConsortiumZoneObject,
  place: consortiumZones,
};

export const environmentZone: Definition = {
  ...zone(() => environmentZone, { users: running, goesWith: "its environment" }),
  type: "EnvironmentZone",
  doc: `Where nodes and services of an environment may run: a region of a cloud. ${sharing}`,
  inputs: z.strictObject({
    consortiumId: consortiumId(),
    environmentId: environmentId(),
    ...inputs(),
    bridgeId: field(optionalText("bridgeId"), "Id of the bridge that connects it with machines of your own.", {
      default: "none",
      onChange: "replace",
    }),
    ...sharedZone(),
  }),
  wire: EnvironmentZoneObject,
  place: environmentZones,
};
