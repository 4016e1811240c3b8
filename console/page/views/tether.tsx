import { useState } from "preact/hooks";
import { environmentsOf, type PinModel, type TetherModel, weiOf } from "pulumi-consortium/internal/page";
import type { NetworkView, TetherView } from "../../protocol";
import { clock, duration, ether, plural, short } from "../format";
import { useAction, useSection } from "../live";
import {
  Card,
  Copyable,
  ErrorMessage,
  Facts,
  Field,
  LineForm,
  NotFound,
  Pager,
  Sign,
  State,
  Table,
} from "../parts/basics";
import { Chart } from "../parts/chart";
import { Tethers } from "../parts/tethers";
import { hrefOf } from "../route";

export function TethersPage({ view }: { view: NetworkView }) {
  return (
    <>
      <h1>Tethers</h1>
      <Tethers view={view} />
    </>
  );
}

export function TetherPage({ view, id }: { view: NetworkView; id: string }) {
  const { value: shown, problem } = useSection<TetherView>(`tether/${id}`);
  const tether = view.model.tethers.find((one) => one.id === id);
  if (!tether) return <NotFound />;
  const environment = environmentsOf(view.model).find((one) => one.id === tether.environmentId);
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf("tethers")}>Tethers</a> / tether
      </p>
      <h1>
        <code>{id}</code> <State kind="tetherService" of={tether} />
      </h1>
      <ErrorMessage text={problem ?? (tether.problem && `The last pin failed: ${tether.problem}`)} />
      <Facts
        of={[
          [
            "Environment",
            environment && (
              <a href={hrefOf("environments", environment.id)}>
                <bdi>{environment.name}</bdi>
              </a>
            ),
          ],
          ["Public chain", tether.network],
          ["Interval", interval(tether, view)],
          ["Pins", tether.reports],
        ]}
        object={tether}
      />
      <div class="columns">
        <Card title="Funds">
          <Funds tether={tether} shown={shown} view={view} />
        </Card>
        <Card title="Pins over time">
          <Pins of={shown?.pins} />
        </Card>
      </div>
      <Card title="Reports">
        <Reports tether={id} newest={shown?.pins} count={tether.reports ?? 0} />
      </Card>
    </>
  );
}

interface FundsProps {
  tether: TetherModel;
  shown: TetherView | undefined;
  view: NetworkView;
}

const hourMs = 3_600_000;
const secondsOf = ({ intervalHours }: TetherModel, { tetherHour = hourMs }: NetworkView): number | undefined =>
  intervalHours === undefined ? undefined : (intervalHours * tetherHour) / 1000;

/** On an embedded service an hour may be shorter, for tests. */
function interval(tether: TetherModel, view: NetworkView): string | undefined {
  const { intervalHours } = tether;
  if (intervalHours === undefined) return undefined;
  const { tetherHour = hourMs } = view;
  const text = plural(intervalHours, "hour");
  return tetherHour === hourMs ? text : `${text}, here ${duration(secondsOf(tether, view)!)}`;
}

function Funds({ tether, shown, view }: FundsProps) {
  const { account, balanceWei } = tether;
  const seconds = secondsOf(tether, view);
  const cost = BigInt(shown?.pinCostWei ?? 0);
  const left = balanceWei !== undefined && cost > 0n ? Number(BigInt(balanceWei) / cost) : undefined;
  const lasts = left === undefined || seconds === undefined ? undefined : duration(left * seconds);
  return (
    <>
      <p class="big">{ether(balanceWei)}</p>
      <p>
        {left === undefined ? (
          <span class="quiet">
            How long this lasts is known after the first pin, if the console can reach the public chain.
          </span>
        ) : (
          <>
            Enough for <b>{plural(left, "pin")}</b>
            {lasts !== undefined && ` (about ${lasts})`} at {ether(shown?.pinCostWei)} each.
          </>
        )}
      </p>
      <Facts of={[["Account", account && <Copyable text={account} shown={short(account)} what="account" />]]} />
      {view.embedded && <Fund tether={tether} />}
    </>
  );
}

function Fund({ tether: { id, network = "rinkeby" } }: { tether: TetherModel }) {
  const [amount, set] = useState("1");
  const { run, busy, answer, problem } = useAction("fund-tether");
  const wei = weiOf(amount)?.toString();
  const fund = () => wei !== undefined && void run({ tether: id, network, wei });
  return (
    <>
      <LineForm onSend={fund} busy={busy || wei === undefined} button={`Fund on ${network}`}>
        <Field label="Ether" value={amount} inputMode="decimal" size={8} onType={set} />
      </LineForm>
      <ErrorMessage text={problem ?? (wei === undefined ? "Enter an amount of ether, such as 0.5." : undefined)} />
      <p role="status" class="quiet">
        {answer && `The account now owns ${ether(answer.balanceWei)}.`}
      </p>
    </>
  );
}

function Pins({ of: pins }: { of: PinModel[] | undefined }) {
  const dated = (pins ?? []).filter(({ at }) => at !== undefined).reverse();
  if (dated.length === 0) return <p class="quiet">No dated pin yet.</p>;
  const times = dated.map(({ at }) => Date.parse(at!) / 1000);
  const counts = dated.map(({ index }) => index + 1);
  const label = `${plural(counts.at(-1)!, "pin")}, the last at ${clock(dated.at(-1)!.at!)}.`;
  return <Chart label={label} times={times} lines={[{ name: "Pins", values: counts }]} steps />;
}

interface ReportsProps {
  tether: string;
  newest: PinModel[] | undefined;
  /** Number of all reports. */
  count: number;
}

/** The newest reports, and pages of earlier ones. */
function Reports({ tether, newest, count }: ReportsProps) {
  const [end, turn] = useState<number>();
  const size = newest?.length ?? 0;
  const last = end ?? count;
  return (
    <>
      {end === undefined ? <Page tether={tether} pins={newest} /> : <Earlier tether={tether} end={end} />}
      {count > size && (
        <Pager
          of={plural(count, "report")}
          first={Math.max(0, last - size) + 1}
          last={last}
          newer={end === undefined ? undefined : () => turn(last + size < count ? last + size : undefined)}
          older={last <= size ? undefined : () => turn(last - size)}
        />
      )}
    </>
  );
}

function Earlier({ tether, end }: { tether: string; end: number }) {
  const { value, problem } = useSection<PinModel[]>(`pins/${tether}/${end}`);
  return (
    <>
      <ErrorMessage text={problem} />
      <Page tether={tether} pins={value} />
    </>
  );
}

function Page({ tether, pins }: { tether: string; pins: PinModel[] | undefined }) {
  return (
    <Table
      label="Reports"
      most={Infinity}
      head={["Report", "Pinned", "Chain", "Block", "Transaction", "Nodes", "On the chain"]}
      empty={pins ? "No reports yet: a tether pins once it is configured, deployed and active." : "Looking …"}
      rows={(pins ?? []).map(({ index, at, network, blockNumber, transactionHash, nodes }) => ({
        key: `${index}`,
        cells: [
          index,
          at && clock(at),
          network,
          blockNumber,
          transactionHash && (
            <Copyable text={transactionHash} shown={short(transactionHash)} what={`transaction of report ${index}`} />
          ),
          nodes,
          <Verify tether={tether} index={index} />,
        ],
      }))}
    />
  );
}

function Verify({ tether, index }: { tether: string; index: number }) {
  const { run, busy, answer, problem } = useAction("verify");
  return (
    <div class="verify">
      <button
        type="button"
        disabled={busy}
        aria-label={`Verify report ${index}`}
        onClick={() => void run({ tether, index })}
      >
        {busy ? "Asking …" : "Verify"}
      </button>
      <span role="status">
        {answer && (
          <>
            <Sign tone={answer.verified ? "good" : "bad"} text={answer.verified ? "verified" : "not verified"} />
            <span class="verdict">{answer.text}</span>
          </>
        )}
        {problem}
      </span>
    </div>
  );
}
