import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import {
  conditionOf,
  type ConsortiumModel,
  type EnvironmentModel,
  type NetworkModel,
  type TetherModel,
  tethersOf,
} from "pulumi-consortium/internal/page";
import type { MapsView, NetworkView } from "../../protocol";
import { plural } from "../format";
import { useSection } from "../live";
import { Card, type Fact, Facts, Fold, ManagedBy, State, Table } from "../parts/basics";
import { Others } from "../parts/others";
import { TetherLinks, Tethers } from "../parts/tethers";
import { hrefOf } from "../route";

/** Number of members, environments of a table and limits shown at first. */
const most = 10;
/** A consortium with more environments shows them as a table. */
const mostTiles = 6;

export function NetworkPage({ view }: { view: NetworkView }) {
  const { model } = view;
  const { value: maps = {} } = useSection<MapsView>("maps");
  return (
    <>
      <h1>Network</h1>
      <Limits of={model} />
      {model.consortia.length === 0 && (
        <Card title="No consortium yet">
          <p>
            Deploy a program with <code>pulumi up</code>; what it creates appears here as it is made.
          </p>
        </Card>
      )}
      {model.consortia.map((consortium) => (
        <ConsortiumPart key={consortium.id} consortium={consortium} drawing={maps[consortium.id]} model={model} />
      ))}
      {(model.tethers.length > 0 || view.embedded) && <Tethers view={view} />}
    </>
  );
}

/** The use of each limit. */
function Limits({ of: { limits, consortia } }: { of: NetworkModel }) {
  const within = ({ name }: ConsortiumModel): string => (consortia.length > 1 ? `${name} / ` : "");
  const names = new Map(
    consortia.flatMap((one) => [
      [one.id, one.name] as const,
      ...one.environments.map(({ id, name }) => [id, within(one) + name] as const),
    ]),
  );
  const [folded, fold] = useState(true);
  const isLong = limits.length > most;
  const fullest = isLong ? limits.toSorted((one, other) => other.used / other.most - one.used / one.most) : limits;
  const shown = folded ? fullest.slice(0, most) : fullest;
  return (
    <div class="limits">
      <ul aria-label={isLong ? "Limits used, the fullest first" : "Limits used"}>
        {shown.map(({ kind, of, used, most: highest }) => (
          <li key={`${kind} ${of}`}>
            <span class="name">
              {kind}
              {names.has(of ?? "") && (
                <span class="quiet">
                  {" "}
                  of <bdi>{names.get(of ?? "")}</bdi>
                </span>
              )}
            </span>
            {/* Yellow once it is full. */}
            <meter value={used} max={highest} low={highest - 0.5} high={highest} optimum={0} aria-hidden="true" />
            <span>
              <b>{used}</b> of {highest}
              {used >= highest && <span class="full"> · full</span>}
            </span>
          </li>
        ))}
      </ul>
      {isLong && <Fold all={limits.length} most={most} folded={folded} fold={fold} />}
    </div>
  );
}

interface PartProps {
  consortium: ConsortiumModel;
  drawing: string | undefined;
  model: NetworkModel;
}

function ConsortiumPart({ consortium, drawing, model }: PartProps) {
  const { name, description, memberships, environments } = consortium;
  const counted = `${plural(memberships.length, "member")}, ${plural(environments.length, "environment")}`;
  return (
    <Card title={name} aside={<State kind="consortium" of={consortium} />}>
      <p class="quiet">
        {description && (
          <>
            <bdi>{description}</bdi>.{" "}
          </>
        )}
        {counted}. <ManagedBy object={consortium} />
      </p>
      {environments.length > mostTiles ? (
        <>
          <Drawing svg={drawing} label={`Map of ${name}`} />
          <Environments of={consortium} model={model} />
        </>
      ) : (
        <div class="seen">
          <Drawing svg={drawing} label={`Map of ${name}`} />
          <ul class="tiles">
            {environments.map((environment) => (
              <li key={environment.id}>
                <EnvironmentTile of={environment} tethers={tethersOf(model, environment)} />
              </li>
            ))}
          </ul>
        </div>
      )}
      <Members of={consortium} />
      <Others label={`Zones and invitations of ${name}`} consortium={consortium} within={consortium} />
    </Card>
  );
}

/** The properties of an environment, in words. */
const kindOf = ({ provider, consensusType, chainId }: EnvironmentModel): string =>
  [provider, consensusType, chainId === undefined ? undefined : `chain ${chainId}`].filter(Boolean).join(" · ");

/** The height of its highest node. */
function heightOf({ nodes }: EnvironmentModel): string | undefined {
  const heights = nodes.flatMap(({ blockHeight }) => blockHeight ?? []);
  return heights.length > 0 ? Math.max(...heights).toLocaleString("en") : undefined;
}

const startedOf = ({ nodes }: EnvironmentModel): string =>
  `${nodes.filter(({ state }) => conditionOf(state) === "ready").length} of ${nodes.length}`;

/** Many environments, one per line. */
function Environments({ of: { name, environments }, model }: { of: ConsortiumModel; model: NetworkModel }) {
  const names = environments.map((one) => one.name);
  const isShared = new Set(names.filter((one, at) => names.indexOf(one) !== at));
  return (
    <Table
      label={`Environments of ${name}`}
      most={most}
      head={["Environment", "State", "Kind", "Block", "Nodes started", "Tether"]}
      empty=""
      rows={environments.map((one) => ({
        key: one.id,
        cells: [
          <>
            <a href={hrefOf("environments", one.id)}>
              <bdi>{one.name}</bdi>
            </a>{" "}
            {isShared.has(one.name) && <code>{one.id}</code>}
          </>,
          <State kind="environment" of={one} />,
          kindOf(one),
          heightOf(one),
          startedOf(one),
          <TetherLinks of={tethersOf(model, one)} short />,
        ],
        object: one,
        words: [one.name, one.id, one.state, kindOf(one), ...one.nodes.flatMap(({ name, state }) => [name, state])],
      }))}
    />
  );
}

function EnvironmentTile({ of: one, tethers }: { of: EnvironmentModel; tethers: TetherModel[] }) {
  const services = one.others.filter(({ kind }) => kind === "service");
  const running = services.filter(({ state }) => conditionOf(state) === "ready").length;
  return (
    <article class="tile">
      <h3>
        <a href={hrefOf("environments", one.id)}>
          <bdi>{one.name}</bdi>
        </a>{" "}
        <State kind="environment" of={one} />
      </h3>
      <p class="quiet">{kindOf(one)}</p>
      <Facts
        of={[
          ["Block", heightOf(one)],
          ["Nodes started", startedOf(one)],
          ["Credentials", one.credentials.length],
          ...(services.length === 0 ? [] : [["Services started", `${running} of ${services.length}`] as Fact]),
          ["Tether", <TetherLinks of={tethers} short />],
        ]}
      />
      <ul class="nodes" aria-label={`Nodes of ${one.name}`}>
        {one.nodes.map((node) => (
          <li key={node.id}>
            <bdi>{node.name}</bdi> <State kind="node" of={node} />
          </li>
        ))}
      </ul>
      <ManagedBy object={one} />
    </article>
  );
}

function Members({ of: { id, name, memberships, environments } }: { of: ConsortiumModel }) {
  const nodes = environments.flatMap((one) => one.nodes);
  const credentials = environments.flatMap((one) => one.credentials);
  const owned = (list: { membershipId?: string }[], member: string) =>
    list.filter((one) => one.membershipId === member).length;
  return (
    <Table
      label={`Members of ${name}`}
      most={most}
      head={["Member", "State", "Nodes", "Credentials"]}
      empty="No members yet."
      rows={memberships.map((member) => ({
        key: `${id} ${member.id}`,
        cells: [
          <b>
            <bdi>{member.orgName}</bdi>
          </b>,
          <State kind="membership" of={member} />,
          `${owned(nodes, member.id)}${member.minimumNodes ? ` (at least ${member.minimumNodes})` : ""}`,
          owned(credentials, member.id),
        ],
        object: member,
        words: [member.orgName, member.id, member.state],
      }))}
    />
  );
}

/** The smallest readable scale of a map; a larger map scrolls. */
const smallest = 0.75;

/** The map as the command draws it. The SVG is data from outside: it is parsed as a picture, without scripts and styles. */
function Drawing({ svg, label }: { svg: string | undefined; label: string }) {
  const place = useRef<HTMLDivElement>(null);
  // Before painting, so that nothing moves under the mouse.
  useLayoutEffect(() => {
    if (svg === undefined) return;
    const picture = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    if (picture.localName !== "svg") return;
    for (const unwanted of picture.querySelectorAll("script, style, foreignObject")) unwanted.remove();
    const drawn = document.importNode(picture as Element as SVGSVGElement, true);
    drawn.style.minWidth = `${smallest * Number(drawn.getAttribute("width"))}px`;
    place.current!.replaceChildren(drawn);
  }, [svg]);
  const [isCut, cut] = useState(false);
  useEffect(() => {
    const box = place.current!;
    const sized = new ResizeObserver(() =>
      cut(box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight),
    );
    sized.observe(box);
    return () => sized.disconnect();
  }, []);
  return (
    <div>
      <div class="drawing scroll" ref={place} tabIndex={0} role="region" aria-label={label} />
      {isCut && <p class="quiet">The map is larger than this window. It scrolls.</p>}
    </div>
  );
}
