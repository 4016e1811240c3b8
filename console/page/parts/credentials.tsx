import { useEffect, useState } from "preact/hooks";
import { type ConsortiumModel, type EnvironmentModel } from "pulumi-consortium/internal/page";
import { type Made, type NetworkView } from "../../protocol";
import { useAction } from "../live";
import { Choice, Copyable, Dialog, ErrorMessage, Facts, Field, LineForm, Table } from "./basics";

interface Props {
  view: NetworkView;
  consortium: ConsortiumModel;
  environment: EnvironmentModel;
}

/** The credentials of an environment, and a form for a new one. */
export function Credentials({ view, consortium, environment }: Props) {
  const { memberships } = consortium;
  const [member, choose] = useState(memberships[0]?.id ?? "");
  const [name, setName] = useState("");
  const { run, busy, problem } = useAction("make-credential");
  const make = () => {
    const ids = { consortium: consortium.id, environment: environment.id, membership: member };
    void run({ ...ids, ...(name.trim() ? { name } : {}) }).then((made) => {
      if (!made) return;
      showSecret({ ...made, title: "New credential", label: "Password" });
      setName("");
    });
  };
  const owners = new Map(memberships.map(({ id, orgName }) => [id, orgName]));
  return (
    <>
      <Table
        label="Credentials"
        head={["User name", "Name", "Member"]}
        empty="None, or the service does not list them."
        rows={environment.credentials.map((one) => ({
          key: one.id,
          cells: [<code>{one.id}</code>, one.name, owners.get(one.membershipId ?? "")],
          words: [one.id, one.name, owners.get(one.membershipId ?? "")],
          object: one,
        }))}
      />
      {view.mayChange && memberships.length > 0 && (
        <LineForm onSend={make} busy={busy} button="Make a credential">
          <Choice label="Member" value={member} onChoose={choose} options={[...owners]} />
          <Field label="Name" value={name} placeholder="optional" onType={setName} />
        </LineForm>
      )}
      <ErrorMessage text={problem} />
    </>
  );
}

interface Secret extends Made {
  title: string;
  /** What kind of secret it is. */
  label: string;
}

let tell: (secret: Secret | undefined) => void = () => undefined;

/** Shows a new secret once, above the open page. */
export const showSecret = (secret: Secret): void => tell(secret);

const warn = (event: BeforeUnloadEvent): void => event.preventDefault();

/** Shows a new secret until the dialog closes. Before that, the browser asks for confirmation on leaving the page. */
export function SecretDialog() {
  const [secret, set] = useState<Secret>();
  useEffect(() => {
    tell = set;
  }, []);
  useEffect(() => {
    if (!secret) return undefined;
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [secret]);
  if (!secret) return null;
  const { title, name, label, secret: text } = secret;
  return (
    <Dialog title={title} stays onClose={() => set(undefined)}>
      <p>
        Keep it now, in a place for secrets. It is <strong>not shown again</strong>: the service does not keep it.
      </p>
      <Facts
        of={[
          ["Name", <Copyable text={name} what="name" />],
          [
            label,
            <span class="secret">
              <Copyable text={text} what={label.toLowerCase()} />
            </span>,
          ],
        ]}
      />
      <form method="dialog">
        <button type="submit" value="kept" autofocus>
          I have kept it
        </button>
      </form>
    </Dialog>
  );
}
