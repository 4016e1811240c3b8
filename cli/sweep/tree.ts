import { type ConsortiumClient, type Identified, isApiError } from "../../provider/api";
import { printable } from "../../provider/api/printable";
import { type Props } from "../../provider/core/definition";
import { isGone } from "../../provider/api/states";
import { definitions } from "../../provider/resources";

export type Kind = "consortium" | "membership" | "environment" | "node" | "appCred";

/** What lives in what, in the order in which it has to be deleted. */
const inside: Partial<Record<Kind, { key: string; kinds: readonly Kind[] }>> = {
  consortium: { key: "consortiumId", kinds: ["environment", "membership"] },
  environment: { key: "environmentId", kinds: ["node", "appCred"] },
};

/** An object of the service with everything in it. */
export interface Item {
  kind: Kind;
  id: string;
  name: string;
  /** ISO 8601; undefined where the service does not show it (spec 2.7: credentials have none). */
  createdAt?: string;
  /** The member that a node or a credential belongs to. */
  membershipId?: string;
  /** Ids of its parents, as the resource definitions want them. */
  place: Props;
  children: Item[];
}

/** Everything that the organization of the key has. */
export function readTree(client: ConsortiumClient): Promise<Item[]> {
  return readKind(client, "consortium", {});
}

async function readKind(client: ConsortiumClient, kind: Kind, place: Props): Promise<Item[]> {
  const definition = definitions[kind];
  let listed: Identified[];
  try {
    listed = await client.list(definition.place(place).collection, definition.wire);
  } catch (error) {
    // A service need not list credentials, and what somebody else deletes meanwhile is no leftover.
    if (isApiError(error, "missing") || (kind === "appCred" && isApiError(error, "unsupported"))) return [];
    throw error;
  }
  return Promise.all(
    listed
      .filter((item) => !isGone(item))
      .map(async (item) => {
        const { id } = item;
        const contents = inside[kind];
        const within = contents && { ...place, [contents.key]: id };
        const children = contents?.kinds.map((child) => readKind(client, child, within!)) ?? [];
        return {
          ...{ kind, id, place, name: text(item.name) ?? text(item.org_name) ?? "" },
          ...{ createdAt: text(item.created_at), membershipId: text(item.membership_id) },
          children: (await Promise.all(children)).flat(),
        };
      }),
  );
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** How a person calls it: `node "n1" (n5f0a9)`. */
export const titleOf = ({ kind, name, id }: Item): string =>
  `${definitions[kind].title} ${name === "" ? "" : `"${printable(name)}" `}(${printable(id)})`;
