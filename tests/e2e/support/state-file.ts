import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/*
 * The state of a stack as it lies in a folder (a backend `file://`), without the CLI, which takes a second of CPU to open its secrets:
 * a million rounds make the key of the passphrase. Here it is made already, for one salt.
 */

export const passphrase = "end-to-end";
export const salt = "v1:Buu9coqnZrM=:v1:GqPoMnhTapA+s9W2:2hHVsQpYdiXBACWEIN2OoyI04TA12Q==";
const key = Buffer.from("185aa9f858018e3091c7bcd346dc2879455bd63d708a9839ffd73de62be0345b", "hex");

export const stateFile = (backend: string, project: string, stack: string): string =>
  join(backend, ".pulumi", "stacks", project, `${stack}.json`);

/** What `pulumi stack init` makes. */
export function initStack(backend: string, project: string, stack: string): void {
  const file = stateFile(backend, project, stack);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(join(backend, ".pulumi", "meta.yaml"), "version: 1\n");
  writeFileSync(file, JSON.stringify({ version: 3, checkpoint: { stack: `organization/${project}/${stack}` } }));
}

export interface State {
  secrets_providers?: { state?: { salt?: string } };
  resources?: { type: string; outputs?: Record<string, unknown> }[];
}

/** What `pulumi stack export` answers. */
export function stateIn(file: string): State {
  if (!existsSync(file)) return {};
  const { checkpoint } = JSON.parse(readFileSync(file, "utf8")) as { checkpoint: { latest?: State } };
  return checkpoint.latest ?? {};
}

/** Whether its secrets, if any, are of the salt above: not those of a stack that the CLI made, or imported. */
export const isOurs = ({ secrets_providers: providers }: State): boolean => (providers?.state?.salt ?? salt) === salt;

/** What `pulumi stack output --show-secrets` answers. */
export function outputsIn(state: State): Record<string, unknown> {
  const stack = state.resources?.find(({ type }) => type === "pulumi:pulumi:Stack");
  return opened(stack?.outputs ?? {}) as Record<string, unknown>;
}

function opened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(opened);
  if (typeof value !== "object" || value === null) return value;
  const { ciphertext } = value as { ciphertext?: unknown };
  if ("4dabf18193072939515e22adb298388d" in value && typeof ciphertext === "string")
    return opened(JSON.parse(decrypted(ciphertext)));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, opened(part)]));
}

function decrypted(text: string): string {
  const [, nonce, sealed] = text.split(":").map((part) => Buffer.from(part, "base64"));
  const cipher = createDecipheriv("aes-256-gcm", key, nonce!);
  cipher.setAuthTag(sealed!.subarray(-16));
  return Buffer.concat([cipher.update(sealed!.subarray(0, -16)), cipher.final()]).toString();
}

/** A secret as stack configuration has it. */
export function encrypted(text: string): { secure: string } {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return { secure: `v1:${nonce.toString("base64")}:${sealed.toString("base64")}` };
}
