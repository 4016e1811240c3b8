import { z } from "zod";
import { ConsortiumObject } from "../api";
import { type Definition } from "../core/definition";
import { field } from "../core/field";
import { creating } from "../core/lifecycle/create";
import { deleting } from "../core/lifecycle/delete";
import { limits, lossWarnings } from "../constants";
import { common, consortia, description, nameText, outputs } from "./fields";
import { environmentsIn } from "./inside";
import { lostEnvironments } from "./losses";

export const consortium: Definition = {
  type: "Consortium",
  title: "consortium",
  doc: `A business network that several organizations run together. An organization owns at most ${limits.consortia} consortia.`,
  inputs: z.strictObject({
    name: field(nameText("name"), "Name of the consortium.", { default: "the name of the resource" }),
    description: description(),
    ...common(),
  }),
  outputs: outputs({
    owner: field(z.string().optional(), "Id of the organization that owns it."),
  }),
  wire: ConsortiumObject,
  naming: ["name"],
  isNamedById: true,
  shownLater: ["owner", "state", "createdAt"],
  place: consortia,
  steps: {
    create: creating(
      () => consortium,
      async (collection, send) => {
        const object = await send();
        collection.startEmpty(object.id, "environments");
        return object;
      },
    ),
    delete: deleting(() => consortium, {
      inside: environmentsIn,
      warning: (inside) =>
        inside.length > 0
          ? `${lossWarnings.deleteConsortium}: ${inside.map(({ what }) => what).join(", ")}`
          : undefined,
    }),
    losses: lostEnvironments,
  },
};
