import { untilAborted } from "../kit/abort.ts";
import { isJsonObject } from "../kit/parse-json.ts";
import type { Session } from "./session.ts";

/**
 * Whether the instance has no such entity. It answers success to a service call for an entity that it does not have, and
 * does nothing. A new subscription begins with the present states, whatever events other subscriptions still wait for.
 * False when the instance does not answer.
 */
export function isMissing(session: Session, entityId: string, signal: AbortSignal): Promise<boolean> {
  return untilAborted(ask(session, entityId), signal).catch(() => false);
}

async function ask(session: Session, entityId: string): Promise<boolean> {
  let take: (event: unknown) => void = () => undefined;
  const listed = new Promise<unknown>((resolve) => {
    take = resolve;
  });
  const entities = { entity_ids: [entityId] };
  const answer = await session.subscribe("subscribe_entities", entities, (event) => take(event));
  if (answer.state !== "succeeded") return false;
  const event = await Promise.race([listed, session.ended]);
  session.unsubscribe(answer.id);
  return isJsonObject(event) && isJsonObject(event.a) && event.a[entityId] === undefined;
}
