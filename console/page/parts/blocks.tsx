import type { BlockView, EnvironmentView } from "../../protocol";
import { clock, ether, plural, short, time } from "../format";
import { Copyable } from "./basics";

/** The last blocks; those with transactions open. */
export function Blocks({ ledger }: { ledger: EnvironmentView | undefined }) {
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
