/** A node refused the credential with HTTP 401, for a request or while opening a WebSocket. */
export class CredentialRefused extends Error {
  override readonly name = "CredentialRefused";
  readonly status = 401;

  constructor(
    /** Address of the node, without user name and password. */
    readonly address: string,
    /** The node's own message. */
    readonly errorMessage: string,
  ) {
    super(
      `${address} refused the credential (HTTP 401): the user name or the password is wrong, or they do not belong to this node. ` +
        `The node said: ${errorMessage.replace(/[.\s]*$/, ".")} A credential opens only the nodes of its own membership, ` +
        "in its own environment, and as long as it exists.",
    );
  }
}
