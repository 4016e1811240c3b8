import { useState } from "preact/hooks";
import type { ConsortiumModel, EnvironmentModel } from "../../../inventory/model";
import type { NetworkView } from "../../protocol";
import { useAction } from "../actions";
import { LineForm, ManagedBy, Table, Trouble } from "./basics";
import { showSecret } from "./secret";

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
  const { run, busy, trouble } = useAction("make-credential");
  const make = () => {
    const ids = { consortium: consortium.id, environment: environment.id, membership: member };
    void run({ ...ids, ...(name.trim() ? { name } : {}) }).then((made) => {
      if (!made) return;
      showSecret({ ...made, title: "New credential", label: "Password" });
      setName("");
    });
  };
  const marked = environment.credentials.some(({ managed }) => managed !== undefined);
  const owners = new Map(memberships.map(({ id, orgName }) => [id, orgName]));
  return (
    <>
      <Table
        label="Credentials"
        head={["User name", "Name", "Member", ...(marked ? ["Managed by"] : [])]}
        empty="None, or the service does not list them."
        rows={environment.credentials.map((one) => ({
          key: one.id,
          cells: [
            <code>{one.id}</code>,
            one.name ?? "—",
            owners.get(one.membershipId ?? "") ?? "—",
            ...(marked ? [<ManagedBy object={one} />] : []),
          ],
        }))}
      />
      {view.mayChange && memberships.length > 0 && (
        <LineForm onSend={make} busy={busy} button="Make a credential">
          <label>
            <span>Member</span>
            <select value={member} onChange={({ currentTarget }) => choose(currentTarget.value)}>
              {memberships.map(({ id, orgName }) => (
                <option key={id} value={id}>
                  {orgName}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span>Name</span>
            <input value={name} placeholder="optional" onInput={({ currentTarget }) => setName(currentTarget.value)} />
          </label>
        </LineForm>
      )}
      <Trouble text={trouble} />
    </>
  );
}
