import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Condition, conditionOf, type Managed, type Remarks } from "../../../inventory/model";

const signs = {
  good: ["●", "good"],
  busy: ["◐", "busy"],
  off: ["■", "off"],
  bad: ["✕", "bad"],
} as const;
const conditions: Record<Condition, keyof typeof signs> = {
  ...{ ready: "good", pending: "busy", going: "busy", stopped: "off", failed: "bad", gone: "bad" },
};
/** Words that only tethers have. */
const tethers: Record<string, keyof typeof signs> = {
  ...{ initial: "busy", configured: "busy", deployed: "busy", inactive: "off", deactivated: "off", missing: "bad" },
};
const signOf = (state: string | undefined): keyof typeof signs =>
  state === undefined ? "off" : (tethers[state] ?? conditions[conditionOf(state)]);

/** A state by shape, word and color. */
export function State({ of }: { of: string | undefined }) {
  const [sign, tone] = signs[signOf(of)];
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{sign}</span> {of ?? "unknown"}
    </span>
  );
}

export function Card(props: { title: string; aside?: ComponentChildren; children: ComponentChildren }) {
  const { title, aside, children } = props;
  return (
    <section class="card">
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** Names with their values, as a list. */
export function Facts({ of }: { of: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? "—"}</dd>
        </div>
      ))}
    </dl>
  );
}

interface TableProps {
  label: string;
  head: string[];
  rows: { key: string; cells: ComponentChildren[] }[];
  empty: string;
}

/** A table that scrolls by itself where it is too wide, also by keyboard. */
export function Table({ label, head, rows, empty }: TableProps) {
  if (rows.length === 0) return <p class="quiet">{empty}</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {head.map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key}>
              {cells.map((cell, index) => (
                <td key={head[index]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A long text in short, with a button that copies all of it. */
export function Copyable({ text, shown = text, what }: { text: string; shown?: string; what: string }) {
  const [copied, set] = useState(false);
  const copy = () => void navigator.clipboard.writeText(text).then(() => set(true));
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => set(false), 2_000);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <span class="copyable">
      <code title={text}>{shown}</code>
      <button type="button" class="plain" aria-label={`Copy ${what}`} onClick={copy}>
        {copied ? "copied" : "copy"}
      </button>
    </span>
  );
}

/** What failed, said at once to whoever cannot see it. */
export function Trouble({ text }: { text: string | undefined }) {
  return (
    <div role="alert" class={text ? "trouble" : undefined}>
      {text && (
        <>
          <span aria-hidden="true">✕</span> {text}
        </>
      )}
    </div>
  );
}

export const stackOf = (managed: Remarks["managed"]): Managed | undefined =>
  typeof managed === "object" ? managed : undefined;

/** The stack that manages an object. */
export function ManagedBy({ object }: { object: Remarks }) {
  const { managed, drift } = object;
  if (managed === undefined) return null;
  const stack = stackOf(managed);
  return (
    <span>
      {stack ? <span title={stack.urn}>{stack.stack}</span> : <span class="quiet">by hand</span>}
      {drift?.map((text) => (
        <span class="drift" key={text}>
          ≠ {text}
        </span>
      ))}
    </span>
  );
}

/** A dialog that opens with the component and closes with Escape. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

/** A form of one line that is sent with Enter or its button. */
export function LineForm(props: { onSend: () => void; busy?: boolean; button: string; children: ComponentChildren }) {
  const { onSend, busy = false, button, children } = props;
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    if (!busy) onSend();
  };
  return (
    <form class="line" onSubmit={send}>
      {children}
      <button type="submit" disabled={busy}>
        {button}
      </button>
    </form>
  );
}
