import { useEffect, useState } from "preact/hooks";
import type { Made } from "../../protocol";
import { Copyable, Dialog, Facts } from "./basics";

interface Secret extends Made {
  title: string;
  /** What the secret is. */
  label: string;
}

let tell: (secret: Secret | undefined) => void = () => undefined;

/** Shows a new secret, this once, above whatever page is open. */
export const showSecret = (secret: Secret): void => tell(secret);

const warn = (event: BeforeUnloadEvent): void => event.preventDefault();

/** The place where a new secret is shown; it is gone from the page with the dialog. Who leaves the page before is asked. */
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
