import { type ConsortiumModel, type EnvironmentModel, kinds, type OtherModel } from "pulumi-consortium/internal/page";
import { Copyable, State, Table } from "./basics";

interface Props {
  label: string;
  consortium: ConsortiumModel;
  /** Their parent. */
  within: ConsortiumModel | EnvironmentModel;
}

/** Services, zones and the like; empty without any. */
export function Others({ label, consortium, within: { others } }: Props) {
  if (others.length === 0) return null;
  const members = new Map(consortium.memberships.map(({ id, orgName }) => [id, orgName]));
  const names = new Map(others.map(({ id, name }) => [id, name]));
  const owned = others.some(({ membershipId }) => membershipId !== undefined);
  return (
    <Table
      label={label}
      head={["Kind", "Name", "State", ...(owned ? ["Member"] : []), "Details"]}
      empty=""
      rows={others.map((one) => ({
        key: `${one.kind} ${one.id}`,
        cells: [
          kinds[one.kind].title,
          <b>
            <bdi>{one.name}</bdi>
          </b>,
          one.state && <State kind={one.kind} of={one} />,
          ...(owned ? [members.get(one.membershipId ?? "")] : []),
          <Details of={one} names={names} />,
        ],
        words: [
          kinds[one.kind].title,
          one.name,
          one.id,
          one.state,
          members.get(one.membershipId ?? ""),
          ...wordsOf(one.facts, names),
        ],
        object: one,
      }))}
    />
  );
}

const wordsOf = ({ uri: _, ...facts }: OtherModel["facts"], names: ReadonlyMap<string, string>): string[] =>
  Object.entries(facts).map(([key, value]) => inWords(key, value, names));

function Details({ of: { name, facts, urls = {} }, names }: { of: OtherModel; names: ReadonlyMap<string, string> }) {
  const { uri } = facts;
  const words = wordsOf(facts, names);
  const addresses = [...Object.values(urls), ...(typeof uri === "string" ? [uri] : [])];
  return (
    <>
      {words.map((word, at) => (
        <span key={at}>
          {at > 0 && " · "}
          <bdi>{word}</bdi>
        </span>
      ))}
      {words.length === 0 && addresses.length === 0 && "—"}
      {addresses.map((address) => (
        <div key={address}>
          <Copyable text={address} what={`address of ${name}`} />
        </div>
      ))}
    </>
  );
}

type Value = OtherModel["facts"][string];

/** The words for a property with an unclear value. */
const sayings: Record<string, (value: Value, name: string) => string> = {
  serviceId: (_, name) => `of ${name}`,
  zoneId: (_, name) => `zone ${name}`,
  bridgeId: (value) => `bridge ${value}`,
  hybridPortAllocation: (value) => `port ${value}`,
  setupComplete: (value) => (value ? "set up" : "not set up"),
  kaleidoManaged: (value) => (value ? "keys kept by the service" : "keys kept by the member"),
};

const inWords = (key: string, value: Value, names: ReadonlyMap<string, string>): string =>
  sayings[key]?.(value, names.get(String(value)) ?? String(value)) ?? String(value);
