import { useState } from "preact/hooks";
import { environmentsOf, type NetworkModel, type TetherModel } from "pulumi-consortium/internal/page";
import type { NetworkView } from "../../protocol";
import { ether } from "../format";
import { useAction } from "../live";
import { hrefOf } from "../route";
import { Card, Choice, LineForm, State, Table, ErrorMessage } from "./basics";

/** All tethers, and on the embedded service a form to order one. */
export function Tethers({ view: { model, embedded } }: { view: NetworkView }) {
  const names = new Map(environmentsOf(model).map(({ id, name }) => [id, name]));
  const nameOf = ({ environmentId = "" }: TetherModel) => names.get(environmentId);
  return (
    <Card title="Tethers" aside={embedded && <OrderTether model={model} />}>
      <Table
        label="Tethers"
        head={["Tether", "State", "Pins", "Environment", "Public chain", "Funds"]}
        empty="No tether service yet."
        rows={model.tethers.map((tether) => ({
          key: tether.id,
          words: [tether.id, tether.state, nameOf(tether), tether.network],
          cells: [
            <a href={hrefOf("tethers", tether.id)}>{tether.id}</a>,
            <State kind="tetherService" of={tether} />,
            tether.reports,
            nameOf(tether),
            tether.network,
            ether(tether.balanceWei),
          ],
        }))}
      />
    </Card>
  );
}

/** Links to the tethers of an environment, by their ids, or by the state of the only one. */
export function TetherLinks({ of: tethers, short = false }: { of: TetherModel[]; short?: boolean }) {
  if (tethers.length === 0) return <>none</>;
  return (
    <>
      {tethers.map(({ id, state }, at) => (
        <span key={id}>
          {at > 0 && ", "}
          <a href={hrefOf("tethers", id)}>{short && tethers.length === 1 ? (state ?? id) : id}</a>
        </span>
      ))}
    </>
  );
}

/** People order tethers in the hosted console: a program cannot create one. */
function OrderTether({ model }: { model: NetworkModel }) {
  const names = new Set(environmentsOf(model).map(({ name }) => name));
  const [environment, choose] = useState("");
  const { run, busy, answer, problem } = useAction("order-tether");
  const order = () => void run(environment ? { environment } : {});
  return (
    <div>
      <LineForm onSend={order} busy={busy} button="Order a tether">
        <Choice
          label="Pins"
          value={environment}
          onChoose={choose}
          options={[["", "the first environment"], ...[...names].map((name) => [name, name] as const)]}
        />
      </LineForm>
      <ErrorMessage text={problem} />
      <p role="status" class="quiet">
        {answer && (
          <>
            Ordered <a href={hrefOf("tethers", answer.id)}>{answer.id}</a>: use its id in your program.
          </>
        )}
      </p>
    </div>
  );
}
