import { mapOf } from "../../observe/map/graph";
import { svgOf } from "../../observe/map/svg";
import type { ConsortiumModel, NetworkModel } from "../../inventory/model";

/** The drawings of the consortia, each made anew only where something that it shows has changed. */
export class Maps {
  readonly #drawn = new Map<string, { of: string; svg: string }>();

  /** By the id of the consortium. */
  of(model: NetworkModel): Record<string, string> {
    const drawn = model.consortia.map((one) => this.#draw(model, one));
    for (const id of this.#drawn.keys()) if (!(id in Object.fromEntries(drawn))) this.#drawn.delete(id);
    return Object.fromEntries(drawn);
  }

  #draw(model: NetworkModel, consortium: ConsortiumModel): [string, string] {
    const { id, name, environments } = consortium;
    const bound = new Set(environments.map(({ tether }) => tether));
    const tethers = model.tethers.filter((tether) => bound.has(tether.id));
    const map = mapOf({ ...model, title: name, consortia: [consortium], tethers });
    const of = JSON.stringify(map);
    const before = this.#drawn.get(id);
    if (before?.of === of) return [id, before.svg];
    const svg = svgOf(map, { style: false, link: (item) => linkTo(item.kind, item.ids) });
    this.#drawn.set(id, { of, svg });
    return [id, svg];
  }
}

/** The pages of the console; nodes and credentials are on that of their environment. */
function linkTo(kind: string, [id, ...others]: readonly string[]): string | undefined {
  const page = { environment: "environments", tether: "tethers" }[kind];
  if (page === undefined || id === undefined || others.length > 0) return undefined;
  return `#/${page}/${encodeURIComponent(id)}`;
}
