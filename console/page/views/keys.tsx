import { useState } from "preact/hooks";
import type { KeyView } from "../../protocol";
import { clock, isolated } from "../format";
import { useAction, useSection } from "../live";
import { Card, Dialog, ErrorMessage, Field, LineForm, Table } from "../parts/basics";
import { showSecret } from "../parts/credentials";

export function KeysPage() {
  const { value: keys, problem } = useSection<KeyView[]>("keys");
  const [name, setName] = useState("");
  const [asked, ask] = useState<KeyView>();
  const making = useAction("make-key");
  const revoking = useAction("revoke-key");
  const make = () => {
    void making.run({ name }).then((made) => {
      if (!made) return;
      showSecret({ ...made, title: "New API key", label: "API key" });
      setName("");
    });
  };
  const answered = ({ id }: KeyView, answer: string) => {
    ask(undefined);
    if (answer === "revoke") void revoking.run({ id });
  };
  return (
    <>
      <h1>API keys</h1>
      <p class="quiet">
        Each key may do everything in this organization. The service's first key is in the file that it named when it
        started; this page lists the others.
      </p>
      <ErrorMessage text={revoking.problem ?? problem ?? making.problem} />
      <Card title="Keys">
        <Table
          label="Keys"
          head={["Name", "Made", "Id", "Action"]}
          empty={keys ? "No further keys." : "Looking …"}
          rows={(keys ?? []).map((key) => ({
            key: key.id,
            cells: [
              <b>
                <bdi>{key.name}</bdi>
              </b>,
              key.created_at && clock(key.created_at),
              <code>{key.id}</code>,
              <button type="button" class="danger" aria-label={`Revoke ${key.name}`} onClick={() => ask(key)}>
                Revoke
              </button>,
            ],
            words: [key.name, key.id],
          }))}
        />
        <LineForm onSend={make} busy={making.busy} button="Make a key">
          <Field label="Name" value={name} placeholder="who uses it" required onType={setName} />
        </LineForm>
      </Card>
      {asked && (
        <Dialog title={`Revoke ${isolated(asked.name)}?`} onClose={(answer) => answered(asked, answer)}>
          <p>Programs that use this key will stop working. You cannot undo this.</p>
          <form method="dialog" class="line">
            <button value="keep" autofocus>
              Keep it
            </button>
            <button class="danger" value="revoke">
              Revoke the key
            </button>
          </form>
        </Dialog>
      )}
    </>
  );
}
