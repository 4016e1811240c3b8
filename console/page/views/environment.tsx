import { useState } from "preact/hooks";
import {
  type ConsortiumModel,
  type EnvironmentModel,
  type NodeModel,
  type TetherModel,
  tethersOf,
} from "pulumi-consortium/internal/page";
import { type BlockView, type EnvironmentView, type NetworkView } from "../../protocol";
import { clock, ether, isolated, plural, short, time, zone } from "../format";
import { useSection } from "../live";
import { Card, Choice, Copyable, ErrorMessage, type Fact, Facts, NotFound, State, Table } from "../parts/basics";
import { Chart, mostLines } from "../parts/chart";
import { Credentials } from "../parts/credentials";
import { Others } from "../parts/others";
import { TetherLinks } from "../parts/tethers";
import { hrefOf } from "../route";

export function EnvironmentPage({ view, id }: { view: NetworkView; id: string }) {
  const { value: ledger, problem } = useSection<EnvironmentView>(`environment/${id}`);
  const consortium = view.model.consortia.find(({ environments }) => environments.some((one) => one.id === id));
  const environment = consortium?.environments.find((one) => one.id === id);
  if (!consortium || !environment) return <NotFound />;
  const { name, nodes } = environment;
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf()}>
          <bdi>{consortium.name}</bdi>
        </a>{" "}
        / environment
      </p>
      <h1>
        <bdi>{name}</bdi> <State kind="environment" of={environment} />
      </h1>
      <ErrorMessage text={problem} />
      <Facts of={factsOf(environment, tethersOf(view.model, environment))} object={environment} />
      <div class="columns">
        <Card title="Block height by node" aside={<span class="quiet">{zone()}</span>}>
          <Heights nodes={nodes} ledger={ledger} />
        </Card>
        <Card title="Recent blocks" aside={<span class="quiet">{zone()}</span>}>
          <Blocks ledger={ledger} />
        </Card>
      </div>
      <Card title="Nodes">
        <Nodes consortium={consortium} environment={environment} />
      </Card>
      {environment.others.length > 0 && (
        <Card title="Services, configurations and zones">
          <Others label="Services, configurations and zones" consortium={consortium} within={environment} />
        </Card>
      )}
      <div class="columns">
        <Card title="Validators">
          <Validators of={environment} />
        </Card>
        <Card title="Credentials">
          <Credentials view={view} consortium={consortium} environment={environment} />
        </Card>
      </div>
      <Card title="Log">{nodes.length > 0 ? <Log of={environment} /> : <p class="quiet">No nodes yet.</p>}</Card>
    </>
  );
}

function factsOf(one: EnvironmentModel, tethers: TetherModel[]): Fact[] {
  return [
    ["Client", one.provider],
    ["Consensus", one.consensusType],
    ["Chain id", one.chainId],
    ["Block period", one.blockPeriod === undefined ? undefined : `${one.blockPeriod} s`],
    ["Region", one.region],
    ["Release", one.releaseId],
    ["Id", <code>{one.id}</code>],
    ["Tether", <TetherLinks of={tethers} />],
  ];
}

function Heights({ nodes, ledger }: { nodes: EnvironmentModel["nodes"]; ledger: EnvironmentView | undefined }) {
  if (!ledger || nodes.length === 0) return <p class="quiet">No node has been seen yet.</p>;
  const drawn = slowestOf(nodes, ledger);
  const isShared = ({ name, id }: NodeModel) => drawn.some((other) => other.name === name && other.id !== id);
  const lines = drawn.map((node) => ({
    name: isShared(node) ? `${node.name} ${node.id}` : node.name,
    values: ledger.heights[node.id] ?? [],
  }));
  const seconds = (ledger.times.at(-1) ?? 0) - (ledger.times[0] ?? 0);
  const newest = lines.map(({ name, values }) => `${isolated(name)} ${values.at(-1) ?? "unknown"}`).join(", ");
  return (
    <>
      <Chart
        label={`Block heights over ${plural(seconds, "second")}. Now: ${newest}.`}
        times={ledger.times}
        lines={lines}
      />
      {drawn.length < nodes.length && (
        <p class="quiet">
          The highest of {plural(nodes.length, "node")}, and the {drawn.length - 1} that are farthest behind.
        </p>
      )}
    </>
  );
}

/** The nodes to draw: all, or the highest one and those that are farthest behind, in the order of the environment. */
function slowestOf(nodes: NodeModel[], { heights }: EnvironmentView): NodeModel[] {
  if (nodes.length <= mostLines) return nodes;
  const newest = (node: NodeModel) => heights[node.id]?.at(-1) ?? -1;
  const byHeight = nodes.toSorted((one, other) => newest(one) - newest(other));
  const drawn = new Set([...byHeight.slice(0, mostLines - 1), byHeight.at(-1)!]);
  return nodes.filter((node) => drawn.has(node));
}

function Nodes({ consortium, environment }: { consortium: ConsortiumModel; environment: EnvironmentModel }) {
  const owners = new Map(consortium.memberships.map(({ id, orgName }) => [id, orgName]));
  return (
    <Table
      label="Nodes"
      head={["Node", "State", "Member", "Height", "Role", "Size", "JSON-RPC address"]}
      empty="No nodes yet."
      rows={environment.nodes.map((node) => ({
        key: node.id,
        cells: [
          <b>
            <bdi>{node.name}</bdi>
          </b>,
          <State kind="node" of={node} />,
          owners.get(node.membershipId ?? ""),
          node.blockHeight?.toLocaleString("en"),
          node.role,
          node.size,
          node.urls?.rpc && <Copyable text={node.urls.rpc} what={`address of ${node.name}`} />,
        ],
        words: [node.name, node.id, node.state, owners.get(node.membershipId ?? ""), node.role, node.size],
        object: node,
      }))}
    />
  );
}

function Validators({ of: { nodes } }: { of: EnvironmentModel }) {
  const names = new Map(nodes.map(({ publicAddress = "", name }) => [publicAddress.toLowerCase(), name]));
  const all = new Set(nodes.flatMap(({ validators = [] }) => validators));
  return (
    <Table
      label="Validators"
      head={["Address", "Node"]}
      empty="No started node names validators."
      rows={[...all].map((address) => ({
        key: address,
        cells: [
          <Copyable text={address} shown={short(address)} what={`validator ${address}`} />,
          names.get(address.toLowerCase()) ?? "another organization's",
        ],
        words: [address, names.get(address.toLowerCase())],
      }))}
    />
  );
}

function Log({ of: { id, nodes, provider } }: { of: EnvironmentModel }) {
  const [node, choose] = useState(nodes[0]!.id);
  const [client, chooseClient] = useState("geth");
  const chosen = nodes.some((one) => one.id === node) ? node : nodes[0]!.id;
  const { value: lines, problem } = useSection<string[]>(`log/${id}/${chosen}/${client}`);
  const clients = provider === "quorum" ? ["geth", "constellation"] : ["geth"];
  return (
    <>
      <div class="line">
        <Choice label="Node" value={chosen} onChoose={choose} options={nodes.map((one) => [one.id, one.name])} />
        <Choice label="Client" value={client} onChoose={chooseClient} options={clients.map((name) => [name, name])} />
      </div>
      <ErrorMessage text={problem} />
      <pre class="log scroll" tabIndex={0} role="log" aria-label="Log, newest line first">
        {lines?.toReversed().join("\n") ?? "Looking …"}
      </pre>
    </>
  );
}

/** The last blocks; those with transactions can be unfolded. */
function Blocks({ ledger }: { ledger: EnvironmentView | undefined }) {
  if (!ledger) return <p class="quiet">Looking …</p>;
  if (ledger.blocks.length === 0) return <p class="quiet">{ledger.noBlocks ?? "No blocks yet."}</p>;
  return (
    <>
      {ledger.noBlocks !== undefined && <p class="quiet">{ledger.noBlocks}</p>}
      <ol class="blocks">
        {ledger.blocks.map((block) => (
          <li key={block.hash}>{block.transactions.length > 0 ? <Full of={block} /> : <Line of={block} />}</li>
        ))}
      </ol>
    </>
  );
}

function Line({ of: { number, hash, time: at, transactions } }: { of: BlockView }) {
  return (
    <span class="block">
      <b>{number.toLocaleString("en")}</b>
      <code title={hash}>{short(hash)}</code>
      <time dateTime={new Date(at * 1000).toISOString()} title={clock(at * 1000)}>
        {time(at * 1000)}
      </time>
      <span class={transactions.length > 0 ? "" : "quiet"}>
        {transactions.length > 0 ? plural(transactions.length, "transaction") : "empty"}
      </span>
    </span>
  );
}

function Full({ of: block }: { of: BlockView }) {
  return (
    <details>
      <summary>
        <Line of={block} />
      </summary>
      <ul>
        <li>
          Block <Copyable text={block.hash} shown={short(block.hash)} what={`hash of block ${block.number}`} />
        </li>
        {block.transactions.map(({ hash, from, to, valueWei }) => (
          <li key={hash}>
            <Copyable text={hash} shown={short(hash)} what={`hash of transaction ${short(hash)}`} /> from{" "}
            <code title={from}>{short(from)}</code>{" "}
            {to === undefined ? (
              "makes a contract"
            ) : (
              <>
                to <code title={to}>{short(to)}</code>
              </>
            )}
            {valueWei !== "0" && `, ${ether(valueWei)}`}
          </li>
        ))}
      </ul>
    </details>
  );
}
