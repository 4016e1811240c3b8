import { mapOf, type MapItem, type NetworkModel, svgOf, tethersOf } from "pulumi-consortium/internal/console";
import { type MapsView } from "../protocol";

/** The drawings of the consortia. */
export const mapsOf = (model: NetworkModel): MapsView =>
  Object.fromEntries(
    model.consortia.map((consortium) => {
      const tethers = consortium.environments.flatMap((one) => tethersOf(model, one));
      const map = mapOf({ ...model, title: consortium.name, consortia: [consortium], tethers });
      return [consortium.id, svgOf(map, { style: false, link: (item) => linkTo(item.kind, item.ids) })];
    }),
  );

/** Links to the console's pages. Nodes and credentials have no page of their own. */
function linkTo(kind: MapItem["kind"], [id, ...others]: readonly string[]): string | undefined {
  const pages: Partial<Record<MapItem["kind"], string>> = { environment: "environments", tetherService: "tethers" };
  const page = pages[kind];
  if (page === undefined || id === undefined || others.length > 0) return undefined;
  return `#/${page}/${encodeURIComponent(id)}`;
}
