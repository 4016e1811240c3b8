import { useState } from "preact/hooks";
import type { CallView, FaultView, TestingView } from "../../protocol";
import { plural, time, zone } from "../format";
import { useAction, useSection } from "../live";
import { Card, Choice, ErrorMessage, Field, LineForm, Pager, Sign, Table } from "../parts/basics";

const kinds: Record<string, { label: string; number?: "status" | "ms"; given?: string }> = {
  status: { label: "answer a status", number: "status", given: "503" },
  delay: { label: "delay", number: "ms", given: "2000" },
  html: { label: "answer an HTML page, as a proxy would" },
  resetBefore: { label: "reset the connection without processing the call" },
  resetAfter: { label: "process the call, then reset the connection" },
  truncated: { label: "answer half of the JSON" },
  hang: { label: "never answer" },
};

const methods = ["GET", "POST", "PATCH", "DELETE"];
const times = [
  ["1", "once"],
  ["3", "3 times"],
  ["10", "10 times"],
  ["always", "always"],
] as const;
const orAny = (values: readonly string[]) => [["", "any"], ...values.map((one) => [one, one])] as [string, string][];

export function TestingPage() {
  const { value: shown, problem } = useSection<TestingView>("testing");
  return (
    <>
      <h1>Faults and calls</h1>
      <p class="quiet">
        See how your program copes: make calls of this organization fail or take longer. The console's own calls are
        neither affected nor logged.
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
  const { run: remove, problem } = useAction("remove-fault");
  return (
    <>
      <ErrorMessage text={problem} />
      <Table
        label="Faults in force"
        head={["Fault", "Calls", "Hit", "Action"]}
        empty={shown ? "None: every call gets its normal answer." : "Looking …"}
        rows={(shown?.faults ?? []).map(({ id, rule, seen, hits }) => ({
          key: id,
          cells: [
            <b>{faultTitle(rule)}</b>,
            <code>{`${rule.method ?? "any"} ${rule.route ?? "any route"}`}</code>,
            `${hits} of ${seen}`,
            <button type="button" aria-label={`Remove fault ${id}`} onClick={() => void remove({ id })}>
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
  const change = (name: keyof typeof rule) => (value: string) => set({ ...rule, [name]: value });
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
        <Choice
          label="What happens"
          value={rule.kind}
          onChoose={(kind) => set({ ...rule, kind, value: kinds[kind]?.given ?? "" })}
          options={Object.entries(kinds).map(([kind, { label }]) => [kind, label])}
        />
        {number !== undefined && (
          <Field
            label={number === "ms" ? "Milliseconds" : "Status"}
            value={rule.value}
            size={6}
            inputMode="numeric"
            required
            onType={change("value")}
          />
        )}
        <Choice label="Method" value={rule.method} onChoose={change("method")} options={orAny(methods)} />
        <Choice label="Route" value={rule.route} onChoose={change("route")} options={orAny(routes)} />
        <Choice label="How often" value={rule.times} onChoose={change("times")} options={times} />
      </LineForm>
      <ErrorMessage text={problem} />
    </>
  );
}

const callsOnPage = 25;

/** Which calls each choice of a status shows. */
const outcomes: Record<string, (call: CallView) => boolean> = {
  any: () => true,
  "2xx": ({ status = 0 }) => status < 300 && status >= 200,
  "3xx": ({ status = 0 }) => status < 400 && status >= 300,
  "4xx": ({ status = 0 }) => status < 500 && status >= 400,
  "5xx": ({ status = 0 }) => status >= 500,
  "no answer": ({ status }) => status === undefined,
  "hit by a fault": ({ fault }) => fault !== undefined,
};

/** The log of calls, newest first, in pages. An earlier page does not change when new calls arrive. */
function Calls({ of: shown }: { of: TestingView | undefined }) {
  const [path, findPath] = useState("");
  const [outcome, choose] = useState("any");
  const [top, turn] = useState<number>();
  const calls = shown?.calls ?? [];
  const isFound = (call: CallView) =>
    `${call.method} ${call.path}`.toLowerCase().includes(path.trim().toLowerCase()) && outcomes[outcome]!(call);
  const found = calls.filter(isFound);
  const start =
    top === undefined
      ? 0
      : Math.max(
          0,
          found.findIndex(({ number }) => number <= top),
        );
  const onPage = found.slice(start, start + callsOnPage);
  const turnTo = (index: number) => turn(index <= 0 ? undefined : found[index]!.number);
  const filter = (set: (value: string) => void) => (value: string) => {
    set(value);
    turn(undefined);
  };
  return (
    <>
      <div class="line">
        <Field type="search" label="Path" value={path} placeholder="any" onType={filter(findPath)} />
        <Choice
          label="Status"
          value={outcome}
          onChoose={filter(choose)}
          options={Object.keys(outcomes).map((one) => [one, one])}
        />
      </div>
      <Table
        label="Calls"
        most={callsOnPage}
        head={[`Time (${zone()})`, "Call", "Status", "Fault"]}
        empty={!shown ? "Looking …" : calls.length > 0 ? "No matching calls." : "No calls yet."}
        rows={onPage.map(({ number, method, path: called, status, at, fault }) => ({
          key: `${number}`,
          cells: [
            time(at),
            <code>
              {method} <bdi>{called}</bdi>
            </code>,
            status ?? "no answer",
            fault === undefined ? "" : <Sign tone="bad" text={fault} />,
          ],
        }))}
      />
      {found.length > callsOnPage && (
        <Pager
          of={plural(found.length, "call")}
          first={start + 1}
          last={start + onPage.length}
          newer={start > 0 ? () => turnTo(start - callsOnPage) : undefined}
          older={start + callsOnPage < found.length ? () => turnTo(start + callsOnPage) : undefined}
        />
      )}
    </>
  );
}
