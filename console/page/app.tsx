import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { environmentsOf, type Tone } from "pulumi-consortium/internal/page";
import type { NetworkView } from "../protocol";
import { clock, isolated, time } from "./format";
import { type Connection, live, useAction, useConnection, useSection } from "./live";
import { ErrorMessage, NotFound, Sign } from "./parts/basics";
import { SecretDialog } from "./parts/credentials";
import { hrefOf, useRoute } from "./route";
import { EnvironmentPage } from "./views/environment";
import { KeysPage } from "./views/keys";
import { NetworkPage } from "./views/network";
import { StacksPage } from "./views/stacks";
import { TestingPage } from "./views/testing";
import { TetherPage, TethersPage } from "./views/tether";

export function App() {
  const { connection, asOf } = useConnection();
  const { value: view, problem } = useSection<NetworkView>("network");
  const [page = "", id = ""] = useRoute();
  const { run, problem: failure } = useAction("sign-out");
  if (connection === "signed out") return <Ended />;
  const signOut = () => void run({}).then((done) => done && live.end());
  const { tone, text, says, isOld } = connections[connection];
  return (
    <>
      <a class="skip" href="#content" onClick={focusContent}>
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href={hrefOf()}>
          <img src="assets/icon.svg" alt="" width={28} height={28} />
          <bdi>{view?.organization ?? "Consortium"}</bdi>
        </a>
        <nav aria-label="Pages">
          {Object.entries(tabs).map(([path, { title, isEmbedded }]) => {
            const isCurrent = page === path || (path === "" && page === "environments");
            return (
              (!isEmbedded || view?.embedded) && (
                <a key={path} href={hrefOf(...(path ? [path] : []))} aria-current={isCurrent ? "page" : undefined}>
                  {title}
                </a>
              )
            );
          })}
        </nav>
        <div class="session">
          <span role="status">
            <Sign tone={tone} text={text} />
          </span>
          {connection === "live" && asOf !== undefined && (
            <time
              class="quiet"
              dateTime={new Date(asOf).toISOString()}
              title={`Last look at the service: ${clock(asOf)}`}
            >
              {time(asOf)}
            </time>
          )}
          <button type="button" class="plain" onClick={signOut}>
            Sign out
          </button>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <ErrorMessage text={failure ?? [says, problem].filter(Boolean).join(" ")} />
        {connection !== "live" && connection !== "connecting" && (
          <AsOf at={asOf} isLate={connection === "slow" && !problem} />
        )}
        {view ? (
          <div class={isOld ? "content old" : "content"}>
            <Page page={page} id={id} view={view} />
          </div>
        ) : (
          !isOld && <p class="quiet">Looking …</p>
        )}
      </main>
      <SecretDialog />
      {view && (
        <footer class="quiet">
          {view.embedded ? "Embedded service" : "Service"} <code>{view.baseUrl}</code>
          {!view.mayChange && " · read-only"}
        </footer>
      )}
    </>
  );
}

function focusContent(event: Event): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

interface TabPage {
  title: string;
  /** Whether only the embedded service has it. */
  isEmbedded?: true;
  show: (view: NetworkView) => ComponentChildren;
}

/** The pages with a tab, by their paths. */
const tabs: Record<string, TabPage> = {
  "": { title: "Network", show: (view) => <NetworkPage view={view} /> },
  tethers: { title: "Tethers", show: (view) => <TethersPage view={view} /> },
  stacks: { title: "Stacks", show: (view) => <StacksPage view={view} /> },
  keys: { title: "API keys", isEmbedded: true, show: () => <KeysPage /> },
  testing: { title: "Faults and calls", isEmbedded: true, show: () => <TestingPage /> },
};

/** The known age of the shown data. */
function AsOf({ at, isLate }: { at: number | undefined; isLate: boolean }) {
  if (at === undefined && !isLate) return null;
  return (
    <p class="quiet" role="status">
      {isLate && "The service is slow to answer. "}
      {at !== undefined && (
        <>
          As of <time dateTime={new Date(at).toISOString()}>{clock(at)}</time>
        </>
      )}
    </p>
  );
}

interface ConnectionText {
  tone: Tone;
  text: string;
  /** Its meaning as an error. */
  says?: string;
  /** Whether all shown data may be out of date. */
  isOld?: true;
}

const connections: Record<Exclude<Connection, "signed out">, ConnectionText> = {
  live: { tone: "good", text: "live" },
  connecting: { tone: "waiting", text: "connecting" },
  slow: { tone: "waiting", text: "slow" },
  lost: {
    tone: "bad",
    text: "no connection",
    says: "The console has stopped or does not answer. Trying again …",
    isOld: true,
  },
  unreachable: { tone: "bad", text: "no connection", isOld: true },
  failing: { tone: "bad", text: "service fails", isOld: true },
  refused: {
    tone: "bad",
    text: "key refused",
    says: "The service no longer accepts the API key of this console: start the console again with a valid one.",
    isOld: true,
  },
};

function Page({ page, id, view }: { page: string; id: string; view: NetworkView }): ComponentChildren {
  const { title, isEmbedded, show } = pageOf(page, id, view);
  useEffect(() => {
    document.title = `${isolated(title)} · Consortium console`;
  }, [title]);
  return !isEmbedded || view.embedded ? show(view) : <NotFound />;
}

function pageOf(page: string, id: string, { model }: NetworkView): TabPage {
  if (page === "environments") {
    const title = environmentsOf(model).find((one) => one.id === id)?.name ?? id;
    return { title, show: (view) => <EnvironmentPage key={id} view={view} id={id} /> };
  }
  if (page === "tethers" && id)
    return { title: `Tether ${id}`, show: (view) => <TetherPage key={id} view={view} id={id} /> };
  return Object.hasOwn(tabs, page) ? tabs[page]! : { title: "Network", show: () => <NotFound /> };
}

function Ended() {
  return (
    <main class="ended">
      <h1>You are signed out</h1>
      <p>
        <code>npm start</code> prints a new link, and so does every <code>consortium console</code>.
      </p>
    </main>
  );
}
