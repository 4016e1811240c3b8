import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { environmentsOf } from "pulumi-consortium/internal/page";
import type { NetworkView } from "../protocol";
import { clock } from "./format";
import { live, useAction, useConnection, useSection } from "./live";
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
  return (
    <>
      <a class="skip" href="#content" onClick={focusContent}>
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href={hrefOf()}>
          <img src="assets/icon.svg" alt="" width={28} height={28} />
          <span>{view?.organization ?? "Consortium"}</span>
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
            <Sign {...connections[connection]} />
          </span>
          <button type="button" class="plain" onClick={signOut}>
            Sign out
          </button>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <ErrorMessage text={failure ?? problem ?? (connection === "lost" ? ended : undefined)} />
        {connection === "lost" && asOf !== undefined && (
          <p class="quiet" role="status">
            As of <time dateTime={new Date(asOf).toISOString()}>{clock(asOf)}</time>
          </p>
        )}
        {view ? (
          <div class={connection === "lost" ? "content old" : "content"}>
            <Page page={page} id={id} view={view} />
          </div>
        ) : (
          connection !== "lost" && <p class="quiet">Looking …</p>
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

const ended = "The console has ended or does not answer. Trying again …";

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

const connections = {
  live: { tone: "good", text: "live" },
  lost: { tone: "bad", text: "no connection" },
  connecting: { tone: "waiting", text: "connecting" },
} as const;

function Page({ page, id, view }: { page: string; id: string; view: NetworkView }): ComponentChildren {
  const { title, isEmbedded, show } = pageOf(page, id, view);
  useEffect(() => {
    document.title = `${title} · Consortium console`;
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
