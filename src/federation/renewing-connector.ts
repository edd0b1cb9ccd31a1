import type { Connector } from "../ecosystems/connector.ts";
import type { FollowedCredential } from "./link-credential.ts";

/**
 * Sends commands with a credential that may have expired: when the ecosystem refuses the token, the credential is
 * renewed, and the command is sent with the new token. A refused command was not carried out, so it is carried out at
 * most once.
 */
export function withRenewal(connector: Connector, credential: FollowedCredential): Pick<Connector, "act"> {
  return {
    async act(token, action, signal) {
      const outcome = await connector.act(token, action, signal);
      if (outcome.state !== "unauthorized" || !credential.canReplace(token)) return outcome;
      await credential.replace(token, signal);
      if (credential.token === token || signal.aborted) return outcome;
      return connector.act(credential.token, action, signal);
    },
  };
}
