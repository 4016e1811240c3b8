import { z } from "zod";
import { type Identified, ConsortiumZoneObject, EnvironmentZoneObject } from "../api";
import { answerOr } from "../api/api-error";
import { isGoing, isGone } from "../api/states";
import { Listed } from "../core/collection";
import { type Definition, type Place } from "../core/definition";
import { field } from "../core/field";
import { type Session } from "../core/session";
import {
  common,
  consortiumId,
  consortiumZones,
  environmentId,
  environments,
  environmentZones,
  nameText,
  nodes,
  optionalText,
  outputs,
  services,
} from "./fields";

const required = (what: string, example: string) =>
  z
    .string({ error: `${what} is required: give it as text, such as "${example}"` })
    .min(1, `${what} must not be empty`)
    .max(256, `${what} must have at most 256 characters`);

const inputs = () => ({
  name: field(nameText("name"), "Name of the zone.", { default: "the name of the resource" }),
  region: field(required("region", "us-east-2"), "Region of the cloud, by the cloud's own name, such as `us-east-2`.", {
    replace: true,
  }),
  cloud: field(required("cloud", "aws"), "Cloud that it is in, such as `aws` or `azure`.", { replace: true }),
  type: field(
    required("type", "kaleido").default("kaleido"),
    "Who runs its machines: `kaleido` is the service itself.",
    { default: "`kaleido`", replace: true },
  ),
});

const sharedZone = () => common("the zone of this region and cloud", "one that exists already is an error");

/** Objects of others that exist. Empty if the service lacks the kind. */
async function ofOthers(session: Session, place: Place): Promise<Identified[]> {
  const items = await answerOr(new Listed(session, place).siblings(0), [], "missing", "unsupported");
  return (items ?? []).filter((item) => !isGone(item) && !isGoing(item) && !session.seenStates.has(item.id));
}

const sharing = "One that exists already with the same region and cloud is shared: adopt it with `adopt: true`.";

export const consortiumZone: Definition = {
  type: "ConsortiumZone",
  title: "zone",
  doc: `Where environments of a consortium may run: a region of a cloud. ${sharing}`,
  inputs: z.strictObject({ consortiumId: consortiumId(), ...inputs(), ...sharedZone() }),
  outputs: outputs({}),
  wire: ConsortiumZoneObject,
  naming: ["region", "cloud"],
  shared: {
    applies: () => true,
    fits: ["region", "cloud"],
    async usedBy(session, _id, state) {
      const inside = await ofOthers(session, environments(state));
      for (const { id } of inside) {
        const zones = await ofOthers(session, environmentZones({ ...state, environmentId: id }));
        const same = zones.find(({ region, cloud }) => region === state.region && cloud === state.cloud);
        if (same) return `the environment ${id} has a zone there (${same.id})`;
      }
      return undefined;
    },
  },
  place: consortiumZones,
};

export const environmentZone: Definition = {
  type: "EnvironmentZone",
  title: "zone",
  doc: `Where nodes and services of an environment may run: a region of a cloud. ${sharing}`,
  inputs: z.strictObject({
    consortiumId: consortiumId(),
    environmentId: environmentId(),
    ...inputs(),
    bridgeId: field(optionalText("bridgeId"), "Id of the bridge that connects it with machines of your own.", {
      default: "none",
      replace: true,
    }),
    ...sharedZone(),
  }),
  outputs: outputs({}),
  wire: EnvironmentZoneObject,
  naming: ["region", "cloud"],
  shared: {
    applies: () => true,
    fits: ["region", "cloud"],
    async usedBy(session, id, state) {
      for (const [title, place] of [["node", nodes(state)] as const, ["service", services(state)] as const]) {
        const user = (await ofOthers(session, place)).find(({ zone_id: zone }) => zone === id);
        if (user) return `the ${title} ${user.id} of others runs there`;
      }
      return undefined;
    },
  },
  place: environmentZones,
};
