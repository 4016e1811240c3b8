import { displayName, kinds, objectsOf, type Placed } from "pulumi-consortium/internal/page";
import type { NetworkView } from "../../protocol";
import { clock } from "../format";
import { Card, Facts, stackOf, Table } from "../parts/basics";

export function StacksPage({ view }: { view: NetworkView }) {
  const objects = objectsOf(view.model);
  const managed = objects.filter(({ object }) => stackOf(object.managed));
  const others = objects.filter(({ object }) => object.managed === "not in stacks");
  const drifted = objects.filter(({ object }) => object.drift?.length);
  return (
    <>
      <h1>Stacks</h1>
      {view.stacks.length === 0 ? <NoStacks /> : <Read stacks={view.stacks} />}
      {view.stacks.length > 0 && (
        <>
          <Card title={`Drifted (${drifted.length})`}>
            <Objects of={drifted} label="Drifted" empty="Everything is as its stack says." />
          </Card>
          <Card title={`Not in stacks (${others.length})`}>
            <p class="quiet">None of these stacks manages them; another one may.</p>
            <Objects of={others} label="Not in stacks" empty="These stacks manage everything." />
          </Card>
          <Card title={`Managed by stacks (${managed.length})`}>
            <Objects of={managed} label="Managed by stacks" empty="These stacks manage nothing of this network." />
          </Card>
        </>
      )}
    </>
  );
}

/** The stacks, each with the time of its state. */
function Read({ stacks }: Pick<NetworkView, "stacks">) {
  return (
    <Facts
      of={stacks.map(({ name, at }) => [
        <bdi>{name}</bdi>,
        <span>
          as of <time dateTime={new Date(at).toISOString()}>{clock(at)}</time>
        </span>,
      ])}
    />
  );
}

function NoStacks() {
  return (
    <Card title="No stack was named">
      <p>
        The console shows which stack manages an object, what is not in stacks, and what drifted. Name the stacks when
        you start it:
      </p>
      <pre class="scroll" tabIndex={0} role="region" aria-label="Commands">
        consortium console --stack dev
      </pre>
    </Card>
  );
}

interface ObjectsProps {
  of: Placed[];
  label: string;
  empty: string;
}

function Objects({ of, label, empty }: ObjectsProps) {
  return (
    <Table
      label={label}
      head={["Object", "Kind", "Id", "Resource"]}
      empty={empty}
      rows={of.map(({ kind, object }) => ({
        key: `${kind} ${object.id}`,
        cells: [
          <b>
            <bdi>{displayName(object)}</bdi>
          </b>,
          kinds[kind].title,
          <code>{object.id}</code>,
          stackOf(object.managed)?.name,
        ],
        words: [displayName(object), kinds[kind].title, object.id, stackOf(object.managed)?.name],
        object,
      }))}
    />
  );
}
