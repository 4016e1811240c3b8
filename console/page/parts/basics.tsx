import type { ComponentChildren, ComponentProps } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import {
  type Kind,
  type Managed,
  type ObjectModel,
  type Remarks,
  type Tone,
  stateInWords,
  toneOf,
} from "pulumi-consortium/internal/page";
import { sentences } from "../format";
import { hrefOf } from "../route";

const signs: Record<Tone, string> = { good: "●", waiting: "◐", plain: "■", bad: "✕" };

/** A condition by shape, word and color. */
export function Sign({ tone, text }: { tone: Tone; text: string }) {
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{signs[tone]}</span> {text}
    </span>
  );
}

/** The state of an object, as its map shows it. */
export function State({ kind, of }: { kind: Kind; of: ObjectModel & { state?: string } }) {
  const { state = "unknown" } = of;
  return <Sign tone={toneOf(kind, of)} text={stateInWords(state)} />;
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

export type Fact = [name: ComponentChildren, value: ComponentChildren];

/** Names with their values, as a list; with stacks, the last one is the stack that manages the object. */
export function Facts({ of, object }: { of: Fact[]; object?: Remarks }) {
  const all: Fact[] = object?.managed === undefined ? of : [...of, ["Managed by", <ManagedBy object={object} />]];
  return (
    <dl class="facts">
      {all.map(([name, value], index) => (
        <div key={index}>
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
  rows: Row[];
  empty: string;
  /** Rows that are shown at first. Default: 20. */
  most?: number;
}

interface Row {
  key: string;
  /** A cell that is undefined has a dash. */
  cells: ComponentChildren[];
  /** If the stack that manages the object is known, a last column shows it. */
  object?: Remarks;
  /** The words that a search finds the row by. */
  words?: readonly (string | number | undefined)[];
}

function isFound({ words = [], object }: Row, search: string): boolean {
  const { managed, drift = [] } = object ?? {};
  return [...words, stackOf(managed)?.stack, ...drift].join("\n").toLowerCase().includes(search.toLowerCase());
}

/**
 * A table; on a phone its rows are cards. If it is too wide, it scrolls by itself, also by keyboard. A long one shows its first rows,
 * and has a search if its rows have words.
 */
export function Table({ label, head: own, rows, empty, most = 20 }: TableProps) {
  const [folded, fold] = useState(true);
  const [search, find] = useState("");
  if (rows.length === 0) return <p class="quiet">{empty}</p>;
  const isManaged = rows.some(({ object }) => object?.managed !== undefined);
  const head = isManaged ? [...own, "Managed by"] : own;
  const found = search.trim() ? rows.filter((row) => isFound(row, search.trim())) : rows;
  const shown = folded ? found.slice(0, most) : found;
  // Browsers drop a table's roles if it is not laid out as one.
  return (
    <>
      {rows.length > most && rows.some(({ words }) => words) && (
        <div class="line find">
          <Field type="search" label={`Find in ${rows.length.toLocaleString("en")}`} value={search} onType={find} />
          <span class="quiet" role="status">
            {found !== rows && `${found.length.toLocaleString("en")} found`}
          </span>
        </div>
      )}
      <div class="scroll" tabIndex={0} role="region" aria-label={label}>
        <table role="table">
          <thead role="rowgroup">
            <tr role="row">
              {head.map((name) => (
                <th scope="col" role="columnheader" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {shown.map(({ key, cells, object }) => (
              <tr role="row" key={key}>
                {[...cells, ...(isManaged && object ? [<ManagedBy object={object} />] : [])].map((cell, index) => (
                  <td role="cell" data-label={head[index]} key={head[index]}>
                    {cell ?? "—"}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {found.length > most && <Fold all={found.length} most={most} folded={folded} fold={fold} />}
    </>
  );
}

interface FoldProps {
  all: number;
  most: number;
  folded: boolean;
  fold: (folded: boolean) => void;
}

/** A button that shows all of a list, or only its beginning. */
export function Fold({ all, most, folded, fold }: FoldProps) {
  return (
    <button type="button" class="plain" aria-expanded={!folded} onClick={() => fold(!folded)}>
      {folded ? `Show all ${all.toLocaleString("en")}` : `Show the first ${most}`}
    </button>
  );
}

interface PagerProps {
  /** The whole list: `200 reports`. */
  of: string;
  first: number;
  last: number;
  newer?: () => void;
  older?: () => void;
}

/** Turns the pages of a list, newest first. An absent direction has no page. */
export function Pager({ of, first, last, newer, older }: PagerProps) {
  return (
    <div class="line">
      <span>
        {first.toLocaleString("en")} to {last.toLocaleString("en")} of {of}
      </span>
      <button type="button" disabled={!newer} onClick={newer}>
        Newer
      </button>
      <button type="button" disabled={!older} onClick={older}>
        Older
      </button>
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
    <span>
      <code title={text}>{shown}</code>
      <button type="button" class="plain" aria-label={`Copy ${what}`} onClick={copy}>
        {copied ? "copied" : "copy"}
      </button>
    </span>
  );
}

/** A failure, in one sentence that screen readers announce at once; the rest is folded. */
export function ErrorMessage({ text }: { text: string | undefined }) {
  const [first, rest] = sentences(text ?? "");
  return (
    <div role="alert" class={text ? "problem" : undefined}>
      {text && (
        <>
          <span aria-hidden="true">✕</span> <bdi>{first}</bdi>
          {rest && (
            <details>
              <summary>Details</summary>
              <bdi>{rest}</bdi>
            </details>
          )}
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
      {stack ? <bdi title={stack.urn}>{stack.stack}</bdi> : <span class="quiet">not in stacks</span>}
      {drift?.map((text) => (
        <span class="drift" key={text}>
          ≠ <bdi>{text}</bdi>
        </span>
      ))}
    </span>
  );
}

interface DialogProps {
  title: string;
  onClose: (answer: string) => void;
  /** Only a button closes it: Escape would lose its contents. */
  stays?: boolean;
  children: ComponentChildren;
}

/** A dialog that opens with the component. */
export function Dialog({ title, onClose, stays = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = () => {
    if (dialog.current?.isConnected && !dialog.current.open) dialog.current.showModal();
  };
  useEffect(open, []);
  const cancel = (event: Event) => stays && event.preventDefault();
  const close = ({ currentTarget }: { currentTarget: HTMLDialogElement }) => {
    if (stays && currentTarget.returnValue === "") return open(); // a second Escape closes the dialog even if the first one is prevented
    return onClose(currentTarget.returnValue);
  };
  return (
    <dialog ref={dialog} onCancel={cancel} onClose={close} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

/** A form of one line, sent with Enter or its button. */
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

type FieldProps = ComponentProps<"input"> & { label: string; onType: (value: string) => void };

/** A line of text to type. */
export function Field({ label, onType, ...input }: FieldProps) {
  return (
    <label>
      <span>{label}</span>
      <input {...input} onInput={({ currentTarget }) => onType(currentTarget.value)} />
    </label>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  onChoose: (value: string) => void;
  /** Values and their names. */
  options: readonly (readonly [value: string, name: string])[];
}

/** One of some values. */
export function Choice({ label, value, onChoose, options }: ChoiceProps) {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        {options.map(([one, name]) => (
          <option key={one} value={one}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** For an address whose object does not exist (any more). */
export function NotFound() {
  return (
    <>
      <h1>There is nothing here</h1>
      <p>
        It may have been deleted. <a href={hrefOf()}>See the network</a>
      </p>
    </>
  );
}
