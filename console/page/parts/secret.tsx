import type { Made } from "../../protocol";
import { Copyable, Dialog } from "./basics";

/** A new secret, shown this once; it is gone from the page with the dialog. */
export function Secret({
  title,
  made,
  label,
  onClose,
}: {
  title: string;
  made: Made;
  label: string;
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>
        Keep it now, in a place for secrets. It is <strong>not shown again</strong>: the service does not keep it.
      </p>
      <dl class="facts">
        <div>
          <dt>Name</dt>
          <dd>
            <Copyable text={made.name} what="name" />
          </dd>
        </div>
        <div>
          <dt>{label}</dt>
          <dd class="secret">
            <Copyable text={made.secret} what={label.toLowerCase()} />
          </dd>
        </div>
      </dl>
      <form method="dialog">
        <button type="submit" autofocus>
          I have kept it
        </button>
      </form>
    </Dialog>
  );
}
