import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ConsortiumClient } from "../../provider/api";
import { environmentName } from "../../provider/api/environment";
import { printableLines } from "../../provider/api/printable";

/** Where a command finds the service and its key, for its help. */
export const connectionHelp =
  `The service and the key come from ${environmentName("baseUrl")} (or ${environmentName("region")}) and ` +
  `${environmentName("apiKey")}.`;

/** Works with a client whose key is proved to be of the organization that the environment asks for. */
export async function withClient(work: (client: ConsortiumClient) => Promise<void>): Promise<void> {
  const client = new ConsortiumClient();
  try {
    await client.requireOrganization();
    await work(client);
  } finally {
    await client.close();
  }
}

/** The state of a stack of the project in this folder, from the Pulumi CLI. With secrets, nothing of it may be shown. */
export async function exportStack(stack: string, { secrets = false } = {}): Promise<unknown> {
  const args = ["stack", "export", "--stack", stack, "--non-interactive", ...(secrets ? ["--show-secrets"] : [])];
  try {
    const { stdout } = await promisify(execFile)("pulumi", args, { maxBuffer: 2 ** 30 });
    return JSON.parse(stdout) as unknown;
  } catch (error) {
    // The error's message is the whole command; Pulumi's own is on standard error.
    const { code, stderr = "", message } = error as NodeJS.ErrnoException & { stderr?: string };
    if (code === "ENOENT")
      throw new Error(
        "A Pulumi CLI is needed for --stack, and there is none on PATH. See https://www.pulumi.com/docs/install/.",
        { cause: error },
      );
    const why =
      stderr.trim().replace(/^error: /, "") ||
      (error instanceof SyntaxError ? "its output is not valid JSON" : message);
    throw new Error(`The state of the stack ${stack} cannot be read: ${printableLines(why)}`, { cause: error });
  }
}
