import { path } from "../api";
import { type Place, type Props } from "../core/definition";

const id = (props: Props, key: string): string => {
  const value = props[key];
  return typeof value === "string" ? value : "";
};

export const consortia = (): Place => ({ collection: "/consortia" });

const inConsortium = (props: Props, name: string): Place => {
  const consortiumId = id(props, "consortiumId");
  const collection = `${path`/consortia/${consortiumId}`}/${name}`;
  return { collection, parent: { place: consortia(), id: consortiumId, title: "consortium" } };
};

export const memberships = (props: Props): Place => inConsortium(props, "memberships");
export const environments = (props: Props): Place => inConsortium(props, "environments");

const inEnvironment = (props: Props, name: string): Place => {
  const place = environments(props);
  const environmentId = id(props, "environmentId");
  const collection = `${place.collection}${path`/${environmentId}`}/${name}`;
  return { collection, parent: { place, id: environmentId, title: "environment" } };
};

export const nodes = (props: Props): Place => inEnvironment(props, "nodes");
export const appcreds = (props: Props): Place => inEnvironment(props, "appcreds");
