import { isJsonObject } from "../../runtime/json/untrusted-json.ts";
import type { Session } from "./session.ts";

/**
 * Whether the instance has no such entity. It answers success to a service call for an entity that it does not have, and
 * does nothing. A new subscription begins with the present states, whatever events other subscriptions still wait for.
 * False when the instance does not answer before the signal aborts.
 */
export async function isMissing(session: Session, entityId: string, signal: AbortSignal): Promise<boolean> {
  const event = await session.firstEvent("subscribe_entities", { entity_ids: [entityId] }, signal);
  return isJsonObject(event) && isJsonObject(event.a) && event.a[entityId] === undefined;
}
