import { z } from "zod";
import { ConsortiumObject } from "../api";
import { printable } from "../api/printable";
import { Listed } from "../core/listed";
import { type Definition } from "../core/definition";
import { field } from "../core/field";
import { type Session } from "../core/session";
import { limits, lossWarnings } from "../constants";
import { common, consortia, description, environments, nameText, outputs } from "./fields";
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
  shownLater: ["owner", "state", "createdAt"],
  place: consortia,
  emptyWhenMade: ["environments"],
  owner: "owner",
  replaceWarning: lossWarnings.replaceConsortium,
  losses: lostEnvironments,
  deleteWarning: survivors,
};

/** What would be lost with it: nobody deletes an environment with `retainOnDelete` or `deletedWith` first, or one of other people. */
async function survivors(session: Session, id: string): Promise<string | undefined> {
  const there = await new Listed(session, environments({ consortiumId: id })).staying(ownAgeMs).catch(() => []);
  const names = there.map((one) => `"${printable(String(one.name))}" (${one.id})`);
  return names.length > 0 ? `${lossWarnings.deleteConsortium}: environment ${names.join(", ")}` : undefined;
}

/** How old the list of environments may be: this run knows those that it has deleted. */
const ownAgeMs = 10_000;
