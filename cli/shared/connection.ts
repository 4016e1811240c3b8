import { ConsortiumClient } from "../../provider/api";
import { environmentName } from "../../provider/api/environment";

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
