import { printable } from "../../provider/api/printable";
import { pluginPrefix } from "../../provider/facts";
import { isDescribed, type Remark } from "./definition";
import { keysOf } from "./keys";
import { type FoundEnvironment, type FoundNetwork } from "./read";

/** The file that `pulumi import --file` takes. */
export interface BulkImport {
  resources: {
    type: string;
    /** What code that Pulumi writes calls it. */
    name: string;
    logicalName: string;
    id: string;
  }[];
}

type Kind = "Consortium" | "Membership" | "Environment" | "Node" | "AppCred";

/** Everything in some consortia, owners first, under the logical names that their network files would give. */
export function bulkImportOf(found: readonly FoundNetwork[]): { bulk: BulkImport; remarks: Remark[] } {
  const keys = keysOf(
    found.map(({ consortium }) => consortium),
    "network",
  );
  const bulk = new Bulk();
  for (const network of found) bulk.network(network, keys.get(network.consortium.id)!);
  return { bulk: { resources: bulk.resources }, remarks: bulk.remarks };
}

class Bulk {
  readonly resources: BulkImport["resources"] = [];
  readonly remarks: Remark[] = [];
  readonly #names = new Set<string>();

  network({ consortium, members, environments }: FoundNetwork, name: string): void {
    this.#add("Consortium", name, [consortium.id]);
    const memberKeys = keysOf(
      members.map(({ id, org_name }) => ({ id, name: org_name })),
      "member",
    );
    for (const { id } of members) this.#add("Membership", `${name}/${memberKeys.get(id)!}`, [consortium.id, id]);
    const keys = keysOf(
      environments.map(({ environment }) => environment),
      "environment",
    );
    for (const one of environments) this.#environment(one, `${name}/${keys.get(one.environment.id)!}`, consortium.id);
  }

  #environment({ environment, nodes, credentials }: FoundEnvironment, name: string, consortiumId: string): void {
    if (!isDescribed(environment)) {
      const { provider, consensus_type: consensus } = environment;
      this.#remark(name, `left out with all in it: no program can describe "${provider}" with "${consensus}"`);
      return;
    }
    const within = [consortiumId, environment.id];
    this.#add("Environment", name, within);
    if (environment.enable_tether)
      this.#remark(name, "a tether is enabled: the service does not show which one. Add it to the file by its id.");
    this.#inside("Node", name, within, nodes);
    this.#inside("AppCred", name, within, credentials);
  }

  #inside(
    type: "Node" | "AppCred",
    name: string,
    within: readonly string[],
    items: readonly { id: string; name?: string; membership_id?: string }[],
  ): void {
    const keys = keysOf(items, type === "Node" ? "node" : "credential");
    for (const { id, membership_id: owner } of items) {
      const own = `${name}/${keys.get(id)!}`;
      if (owner === undefined) this.#remark(own, `${id} is left out: the service does not show a member that owns it`);
      else this.#add(type, own, [...within, id]);
    }
  }

  /** Logical names of different kinds may be alike, but code calls each by a name of its own. */
  #add(type: Kind, logicalName: string, path: readonly string[]): void {
    const id = path.at(-1)!;
    const taken = this.#names.has(inCode(logicalName).toLowerCase());
    const name = inCode(taken ? `${logicalName}-${id}` : logicalName);
    this.#names.add(name.toLowerCase());
    this.resources.push({ type: pluginPrefix + type, name, logicalName, id: path.map(encodeURIComponent).join("/") });
  }

  #remark(name: string, text: string): void {
    this.remarks.push({ path: [name], text: printable(text) });
  }
}

/** A name that every language takes for a variable. */
const inCode = (name: string): string => name.replace(/[^A-Za-z0-9]+/g, "_").replace(/^(?=\d)/, "n");
