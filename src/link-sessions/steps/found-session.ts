import type { Connector } from "../../ecosystems/connector.ts";
import { keyOf } from "../../identity/secrets.ts";
import { suspensionProblem } from "../../identity/suspension.ts";
import type { LinkSessionRow } from "../../store/tables/link-sessions.ts";
import type { UserRow } from "../../store/tables/users.ts";
import { clientOf, type SessionClient } from "../session-client.ts";
import { openSecrets, type SessionSecrets } from "../session-secrets.ts";
import type { StepParts } from "./step.ts";

/** A session with what its pages need. */
export interface FoundSession {
  readonly session: LinkSessionRow;
  readonly secrets: SessionSecrets;
  readonly client: SessionClient;
  readonly connector: Connector;
  /** The user whose account will see the home; undefined until one has signed in. */
  readonly user: UserRow | undefined;
  /** Whether the user has a link to the ecosystem. */
  readonly isLinked: boolean;
  /** The user must sign in first. */
  readonly needsSignIn: boolean;
  readonly nowMs: number;
}

/**
 * Finds a session by the secret in its address, or by the state that the ecosystem sent back. Undefined when there is
 * none, when its client is gone or no longer returns there, when client or user is suspended, or when its ecosystem has no
 * link page any more.
 */
export async function findSession(
  parts: StepParts,
  by: "token" | "state",
  credential: string,
): Promise<FoundSession | undefined> {
  const { store, connectors, sealer } = parts;
  const found = await store.read(async (tx) => {
    const session = await tx.linkSessions.byHash(by, keyOf(credential));
    const userId = session?.userId ?? null;
    const user = userId === null ? undefined : await tx.users.byId(userId);
    const link = session && userId !== null ? await tx.links.find(userId, session.ecosystem) : undefined;
    return session && { session, user, isLinked: link !== undefined, nowMs: await tx.clock.nowMs() };
  });
  if (!found) return undefined;
  const { session, user } = found;
  const client = await clientOf(parts, session);
  const connector = connectors.get(session.ecosystem);
  if (!client || !connector?.consent) return undefined;
  if (client.suspendedMs !== null || suspensionProblem(user)) return undefined;
  if (session.returnUrl !== null && !client.returnUrls.includes(session.returnUrl)) return undefined;
  const needsSignIn = !session.isSignedIn && !(client.vouchesForUsers && user);
  return { ...found, secrets: openSecrets(sealer, session), client, connector, needsSignIn };
}
