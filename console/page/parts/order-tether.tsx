import { useState } from "preact/hooks";
import type { NetworkModel } from "../../../inventory/model";
import { useAction } from "../actions";
import { hrefOf } from "../route";
import { LineForm, Trouble } from "./basics";

/** What the hosted console does by hand: a program cannot create a tether service. */
export function OrderTether({ model }: { model: NetworkModel }) {
  const names = model.consortia.flatMap((one) => one.environments.map(({ name }) => name));
  const [environment, choose] = useState("");
  const { run, busy, answer, trouble } = useAction("order-tether");
  const order = () => void run(environment ? { environment } : {});
  return (
    <div>
      <LineForm onSend={order} busy={busy} button="Order a tether">
        <label>
          <span>Pins</span>
          <select value={environment} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            <option value="">the first environment</option>
            {[...new Set(names)].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      </LineForm>
      <Trouble text={trouble} />
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
