import { useState } from "preact/hooks";
import type { KeyView } from "../../protocol";
import { act, useAction } from "../actions";
import { clock } from "../format";
import { useSection } from "../live";
import { Card, LineForm, Table, Trouble } from "../parts/basics";
import { Secret } from "../parts/secret";

export function KeysPage() {
  const { value: keys, trouble } = useSection<KeyView[]>("keys");
  const [name, setName] = useState("");
  const [failure, setFailure] = useState<string>();
  const making = useAction("make-key");
  const make = () => void making.run({ name }).then((made) => made && setName(""));
  const revoke = (id: string) => {
    act("revoke-key", { id }).then(
      () => setFailure(undefined),
      (error: Error) => setFailure(error.message),
    );
  };
  return (
    <>
      <h1>API keys</h1>
      <p class="quiet">
        Each key may do everything in this organization. The service's first key is in the file that it named when it
        started; these are the further ones.
      </p>
      <Trouble text={failure ?? trouble ?? making.trouble} />
      <Card title="Keys">
        <Table
          label="Keys"
          head={["Name", "Made", "Id", ""]}
          empty={keys ? "No further keys." : "Looking …"}
          rows={(keys ?? []).map((key) => ({
            key: key.id,
            cells: [
              <b>{key.name}</b>,
              key.created_at ? clock(key.created_at) : "—",
              <code>{key.id}</code>,
              <button type="button" class="danger" aria-label={`Revoke ${key.name}`} onClick={() => revoke(key.id)}>
                Revoke
              </button>,
            ],
          }))}
        />
        <LineForm onSend={make} busy={making.busy} button="Make a key">
          <label>
            <span>Name</span>
            <input
              required
              value={name}
              placeholder="who uses it"
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          </label>
        </LineForm>
      </Card>
      {making.answer && <Secret title="New API key" made={making.answer} label="API key" onClose={making.reset} />}
    </>
  );
}
