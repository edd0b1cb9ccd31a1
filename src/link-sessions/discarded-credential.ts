import type { Connector } from "../ecosystems/connector.ts";
import type { LinkSessionRow } from "../store/tables/link-sessions.ts";
import { openSecrets, type Sealer } from "./session-secrets.ts";

/**
 * Revokes the credential of a session that links nothing, unless that could end a link to the same account. Best effort:
 * the session keeps no copy of it.
 */
export async function discardCredential(
  { connectors, sealer }: { readonly connectors: ReadonlyMap<string, Connector>; readonly sealer: Sealer },
  session: LinkSessionRow,
  signal: AbortSignal,
): Promise<void> {
  const { credential } = openSecrets(sealer, session);
  const connector = connectors.get(session.ecosystem);
  if (!credential || !connector || connector.revokesAllConsents) return;
  await connector.revoke(connector.callTokenOf?.(credential) ?? credential.accessToken, signal, credential);
}
