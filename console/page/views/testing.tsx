import { useState } from "preact/hooks";
import type { FaultView, TestingView } from "../../protocol";
import { time, zone } from "../format";
import { act, useAction, useSection } from "../live";
import { Card, LineForm, Table, ErrorMessage } from "../parts/basics";

const kinds: Record<string, { label: string; number?: "status" | "ms"; given?: string }> = {
  status: { label: "answer a status", number: "status", given: "503" },
  delay: { label: "delay", number: "ms", given: "2000" },
  html: { label: "answer an HTML page, as a proxy would" },
  resetBefore: { label: "reset the connection, nothing done" },
  resetAfter: { label: "do it, then reset the connection" },
  truncated: { label: "answer half of the JSON" },
  hang: { label: "never answer" },
};

export function TestingPage() {
  const { value: shown, problem } = useSection<TestingView>("testing");
  return (
    <>
      <h1>Faults and calls</h1>
      <p class="quiet">
        See how your program copes: make calls of this organization fail, or slow. The console's own calls are neither
        hit nor logged.
      </p>
      <ErrorMessage text={problem} />
      <Card title="Faults">
        <Faults of={shown} />
        <NewFault routes={shown?.routes ?? []} />
      </Card>
      <Card title="Calls">
        <Calls of={shown} />
      </Card>
    </>
  );
}

function Faults({ of: shown }: { of: TestingView | undefined }) {
  const [failure, setFailure] = useState<string>();
  const remove = (id: string) => {
    act("remove-fault", { id }).catch((error: Error) => setFailure(error.message));
  };
  return (
    <>
      <ErrorMessage text={failure} />
      <Table
        label="Faults in force"
        head={["Fault", "Calls", "Hit", ""]}
        empty={shown ? "None: every call is answered as it should be." : "Looking …"}
        rows={(shown?.faults ?? []).map(({ id, rule, seen, hits }) => ({
          key: id,
          cells: [
            <b>{faultTitle(rule)}</b>,
            <code>{`${rule.method ?? "any"} ${rule.route ?? "any route"}`}</code>,
            `${hits} of ${seen}`,
            <button type="button" aria-label={`Remove fault ${id}`} onClick={() => remove(id)}>
              Remove
            </button>,
          ],
        }))}
      />
    </>
  );
}

function faultTitle(rule: FaultView): string {
  const kind = kinds[rule.kind];
  const value = kind?.number === undefined ? "" : ` ${rule[kind.number] ?? ""}`;
  return `${kind?.label ?? rule.kind}${value}`;
}

function NewFault({ routes }: { routes: string[] }) {
  const [rule, set] = useState({ kind: "status", value: "503", method: "", route: "", times: "1" });
  const { run, busy, problem } = useAction("add-fault");
  const { number } = kinds[rule.kind]!;
  const change = (name: keyof typeof rule) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget;
    set({ ...rule, [name]: value, ...(name === "kind" ? { value: kinds[value]?.given ?? "" } : {}) });
  };
  const add = () => {
    const { kind, value, method, route, times } = rule;
    void run({
      kind,
      ...(number === undefined ? {} : { [number]: Number(value) }),
      ...(method ? { method } : {}),
      ...(route ? { route } : {}),
      times: times === "always" ? null : Number(times),
    });
  };
  return (
    <>
      <LineForm onSend={add} busy={busy} button="Add the fault">
        <label>
          <span>What happens</span>
          <select value={rule.kind} onChange={change("kind")}>
            {Object.entries(kinds).map(([kind, { label }]) => (
              <option key={kind} value={kind}>
                {label}
              </option>
            ))}
          </select>
        </label>
        {number !== undefined && (
          <label>
            <span>{number === "ms" ? "Milliseconds" : "Status"}</span>
            <input value={rule.value} size={6} inputMode="numeric" required onInput={change("value")} />
          </label>
        )}
        <label>
          <span>Method</span>
          <select value={rule.method} onChange={change("method")}>
            <option value="">any</option>
            {["GET", "POST", "PATCH", "DELETE"].map((method) => (
              <option key={method}>{method}</option>
            ))}
          </select>
        </label>
        <label class="wide">
          <span>Route</span>
          <select value={rule.route} onChange={change("route")}>
            <option value="">any</option>
            {routes.map((route) => (
              <option key={route}>{route}</option>
            ))}
          </select>
        </label>
        <label>
          <span>How often</span>
          <select value={rule.times} onChange={change("times")}>
            <option value="1">once</option>
            <option value="3">3 times</option>
            <option value="10">10 times</option>
            <option value="always">always</option>
          </select>
        </label>
      </LineForm>
      <ErrorMessage text={problem} />
    </>
  );
}

function Calls({ of: shown }: { of: TestingView | undefined }) {
  return (
    <Table
      label="Calls"
      head={[`Time (${zone()})`, "Call", "Status", "Fault"]}
      empty={shown ? "No calls yet." : "Looking …"}
      rows={(shown?.calls ?? []).map(({ method, path, status, at, fault }, index) => ({
        key: `${at} ${index}`,
        cells: [
          time(at),
          <code>
            {method} {path}
          </code>,
          status ?? "no answer",
          fault === undefined ? "" : <span class="state bad">✕ {fault}</span>,
        ],
      }))}
    />
  );
}
