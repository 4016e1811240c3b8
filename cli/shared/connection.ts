import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ConsortiumClient, type HttpOptions } from "../../provider/api";
import { environmentName } from "../../provider/api/environment";
import { printableLines } from "../../provider/api/printable";
import { UserError } from "../../provider/errors";
import { objectsWithin } from "../../inventory/credentials";

/** For the help of commands that call the service. */
export const connectionHelp =
  `The service and the key come from ${environmentName("baseUrl")} (or ${environmentName("region")}) and ` +
  `${environmentName("apiKey")}.`;

/** Works with a client whose key is proven to belong to the organization that the environment names. */
export async function withClient<T>(work: (client: ConsortiumClient) => Promise<T>, options?: HttpOptions): Promise<T> {
  const client = new ConsortiumClient(undefined, options);
  try {
    await client.requireOrganization();
    return await work(client);
  } finally {
    await client.close();
  }
}

export const noPulumi =
  "Install Pulumi first: https://www.pulumi.com/docs/iac/download-install/. There is no Pulumi CLI on the PATH.";

/** Runs the Pulumi CLI and returns its standard output. @param failure what failed, for the error */
export async function pulumiOutput(args: readonly string[], failure: string): Promise<string> {
  const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" };
  try {
    return (await promisify(execFile)("pulumi", args, { env, maxBuffer: 2 ** 30 })).stdout;
  } catch (cause) {
    // The error's message is the whole command. Pulumi's own is on standard error.
    const { code, stderr = "", message } = cause as NodeJS.ErrnoException & { stderr?: string };
    if (code === "ENOENT") throw new UserError("not-installed", noPulumi, { cause });
    const said = printableLines(stderr.trim().replace(/^error: /, "") || message);
    throw new UserError("pulumi-failed", `${failure}: ${said}`, { cause });
  }
}

/** The state of a stack of the project in this folder. With secrets, no part of it may be shown. */
export async function exportStack(stack: string, { secrets = false } = {}): Promise<unknown> {
  const args = ["stack", "export", "--stack", stack, "--non-interactive", ...(secrets ? ["--show-secrets"] : [])];
  const failure = `The state of the stack ${stack} cannot be read`;
  const text = await pulumiOutput(args, failure);
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw new UserError("pulumi-failed", `${failure}: Pulumi's output is not valid JSON.`, { cause });
  }
  if (!secrets) return document;
  // With a wrong passphrase, older releases of Pulumi show each secret as null, and do not fail.
  const shown = objectsWithin(document).flatMap((one) => ("plaintext" in one ? [one.plaintext] : []));
  if (shown.length > 0 && shown.every((one) => one === "null"))
    throw new UserError(
      "pulumi-failed",
      `${failure}: its secrets cannot be decrypted. Check PULUMI_CONFIG_PASSPHRASE.`,
    );
  return document;
}
