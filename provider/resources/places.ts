import { paths } from "../api/paths";
import { type Place, type Props } from "../core/definition";

/** An id among properties; empty where it is missing, which no path takes. */
export const idIn = (props: Props, key: string): string => {
  const value = props[key];
  return typeof value === "string" ? value : "";
};

export const consortia = (): Place => ({ collection: paths.consortia });

const inConsortium = (props: Props, collectionOf: (consortiumId: string) => string): Place => {
  const id = idIn(props, "consortiumId");
  return { collection: collectionOf(id), parent: { place: consortia(), id } };
};

export const memberships = (props: Props): Place => inConsortium(props, paths.memberships);
export const environments = (props: Props): Place => inConsortium(props, paths.environments);

const inEnvironment = (props: Props, collectionOf: (consortiumId: string, environmentId: string) => string): Place => {
  const id = idIn(props, "environmentId");
  const collection = collectionOf(idIn(props, "consortiumId"), id);
  return { collection, parent: { place: environments(props), id } };
};

export const nodes = (props: Props): Place => inEnvironment(props, paths.nodes);
export const appcreds = (props: Props): Place => ({ ...inEnvironment(props, paths.appcreds), isUnlisted: true });
