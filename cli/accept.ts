import { type Command } from "@commander-js/extra-typings";
import { type ConsortiumClient, isApiError, path } from "../provider/api";
import { UserError } from "../provider/errors";
import { connectionHelp, withClient } from "./shared/connection";
import { jsonText, print } from "./shared/terminal";

interface Invitation {
  id: string;
  email: string;
  from: string;
  consortium: { id: string; name: string };
}

/** Accepts an invitation on the embedded service: `consortium accept <invitation>`. */
export function define(command: Command): void {
  command
    .argument("[invitation]", "id of the invitation to accept (default: list those that are open)")
    .option("--json", "print one JSON document")
    .addHelpText("after", `\nUse the key of the invited organization. ${connectionHelp}`)
    .action((id, { json = false }) =>
      withClient((client) => (id === undefined ? list(client, json) : accept(client, id, json))),
    );
}

async function list(client: ConsortiumClient, json: boolean): Promise<void> {
  const open = await invitations(client);
  if (json) return print(jsonText({ invitations: open }));
  if (open.length === 0) print("No invitation to this organization is open.");
  for (const { id, email, from, consortium } of open)
    print([`${id}  to the consortium ${consortium.name} (${consortium.id}) of ${from}, sent to ${email}`]);
}

async function accept(client: ConsortiumClient, id: string, json: boolean): Promise<void> {
  const invitation = (await invitations(client)).find((one) => one.id === id);
  if (!invitation)
    throw new UserError(
      "not-found",
      `Choose one that \`consortium accept\` lists: no invitation ${id} to this organization is open.`,
    );
  await client.http.request("POST", path`/embedded/invitations/${id}/accept`, { body: {} });
  if (json) return print(jsonText({ accepted: invitation }));
  const { from, consortium } = invitation;
  print([`This organization is now a member of the consortium ${consortium.name} of ${from}.`]);
}

async function invitations(client: ConsortiumClient): Promise<Invitation[]> {
  try {
    return (await client.http.request("GET", "/embedded/invitations")).body as Invitation[];
  } catch (error) {
    if (!isApiError(error, "missing", "unsupported")) throw error;
    const elsewhere = "Accept it in the web console of the service.";
    throw new UserError(
      "unsupported",
      `${elsewhere} Only \`consortium serve\` can accept invitations through its API.`,
      {
        cause: error,
      },
    );
  }
}
