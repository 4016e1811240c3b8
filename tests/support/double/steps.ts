import { type Failed } from "../protocol";
import { type Providers } from "./provider";
import { isDefault, isProvider, label, marked, type Resource, type Rows } from "./state";

/** What the steps of a run do to resources and rows (Pulumi's step.go). */
export class Steps {
  /** Such as `create Node n1`, in the order of the beginnings. */
  readonly done: string[] = [];
  readonly lines: string[] = [];

  constructor(
    private readonly rows: Rows,
    private readonly providers: Providers,
    private readonly preview: boolean,
  ) {}

  same(old: Resource, made: Resource): void {
    this.done.push(`same ${label(made)}`);
    Object.assign(made, { id: old.id, outputs: old.outputs, initErrors: made.custom ? old.initErrors : [] });
    this.rows.dropped.add(old);
    this.rows.add(made);
  }

  async create(made: Resource, old?: Resource): Promise<void> {
    if (made.type !== "pulumi:pulumi:Stack") this.done.push(`create ${label(made)}`);
    const replaced = (): void => {
      if (old?.pendingReplacement) this.rows.dropped.add(old);
      else if (old) old.delete = true;
    };
    if (!made.custom) return this.rows.add(made);
    const provider = await this.providers.of(made.provider);
    await this.#keeping(made, replaced, async () => {
      const options = { preview: this.preview, timeout: made.timeouts.create };
      const { id, outs } = await provider.create(made.urn, made.inputs, options);
      if (id === "" && !this.preview) throw new Error("provider did not return an ID from Create");
      Object.assign(made, { id, outputs: marked(made, outs) });
    });
  }

  async update(made: Resource, old: Resource): Promise<void> {
    this.done.push(`update ${label(made)}`);
    made.id = old.id;
    const provider = await this.providers.of(made.provider);
    await this.#keeping(
      made,
      () => this.rows.dropped.add(old),
      async () => {
        const options = { preview: this.preview, timeout: made.timeouts.update };
        const { outs } = await provider.update(made.urn, old.id, old.outputs, made.inputs, options);
        made.outputs = marked(made, outs);
      },
    );
  }

  /** A step that fails keeps nothing, unless the error says that something is there. */
  async #keeping(made: Resource, replaced: () => void, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const { kept } = error as Failed;
      if (!kept) throw error;
      Object.assign(made, { id: kept.id, outputs: marked(made, kept.properties), initErrors: kept.reasons });
      replaced();
      this.rows.add(made);
      throw error;
    }
    replaced();
    this.rows.add(made);
  }

  async remove(old: Resource): Promise<void> {
    if (!old.pendingReplacement) await this.delete(old);
    this.rows.dropped.add(old);
  }

  async delete(old: Resource): Promise<void> {
    if (isDefault(old) || old.type === "pulumi:pulumi:Stack") return;
    this.done.push(`delete ${label(old)}`);
    if (this.preview || !old.custom || isProvider(old)) return;
    if (old.retainOnDelete || (old.deletedWith !== "" && this.rows.deletes.has(old.deletedWith))) return;
    const provider = await this.providers.of(old.provider);
    await provider.delete(old.urn, old.id, old.outputs, { preview: false, timeout: old.timeouts.delete });
  }

  async refresh(old: Resource): Promise<void> {
    if (!old.custom || isProvider(old) || old.pendingReplacement) return;
    const provider = await this.providers.of(old.provider);
    this.done.push(`refresh ${label(old)}`);
    try {
      const { id, outs, inputs } = await provider.read(old.urn, old.id, old.outputs, old.inputs);
      if (id === "") return void this.rows.dropped.add(old);
      Object.assign(old, { id, outputs: marked(old, outs), initErrors: [], ...(inputs && { inputs }) });
    } catch (error) {
      const { kept, details } = error as Failed;
      if (!kept) throw error;
      this.lines.push(`Refreshed resource is in an unhealthy state: ${details}`);
      Object.assign(old, { outputs: marked(old, kept.properties), initErrors: kept.reasons });
    }
  }
}
