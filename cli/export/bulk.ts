import { printable } from "../../provider/api/printable";
import { pluginPrefix } from "../../provider/constants";
import { type Found, inside } from "../../provider/resources/tree";
import { isDescribed, type Remark } from "./definition";
import { keysOf } from "./keys";

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
export function bulkImportOf(found: readonly Found[]): { bulk: BulkImport; remarks: Remark[] } {
  const keys = keysOf(found, "network");
  const bulk = new Bulk();
  for (const consortium of found) bulk.network(consortium, keys.get(consortium.id)!);
  return { bulk: { resources: bulk.resources }, remarks: bulk.remarks };
}

class Bulk {
  readonly resources: BulkImport["resources"] = [];
  readonly remarks: Remark[] = [];
  readonly #names = new Set<string>();

  network(consortium: Found, name: string): void {
    this.#add("Consortium", name, [consortium.id]);
    const members = inside(consortium, "membership");
    const memberKeys = keysOf(members, "member");
    for (const { id } of members) this.#add("Membership", `${name}/${memberKeys.get(id)!}`, [consortium.id, id]);
    const environments = inside(consortium, "environment");
    const keys = keysOf(environments, "environment");
    for (const one of environments) this.#environment(one, `${name}/${keys.get(one.id)!}`, consortium.id);
  }

  #environment(environment: Found, name: string, consortiumId: string): void {
    const { provider, consensusType, enableTether } = environment.props;
    if (!isDescribed(environment)) {
      this.#remark(name, `left out with all in it: no program can describe "${provider}" with "${consensusType}"`);
      return;
    }
    const within = [consortiumId, environment.id];
    this.#add("Environment", name, within);
    if (enableTether)
      this.#remark(name, "a tether is enabled: the service does not show which one. Add it to the file by its id.");
    this.#inside("Node", name, within, inside(environment, "node"));
    this.#inside("AppCred", name, within, inside(environment, "appCred"));
  }

  #inside(type: "Node" | "AppCred", name: string, within: readonly string[], items: readonly Found[]): void {
    const keys = keysOf(items, type === "Node" ? "node" : "credential");
    for (const { id, props } of items) {
      const own = `${name}/${keys.get(id)!}`;
      if (props.membershipId !== undefined) this.#add(type, own, [...within, id]);
      else this.#remark(own, `${id} is left out: the service does not show a member that owns it`);
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
