import { alexa } from "./alexa/assistant.ts";
import type { Assistant, AssistantParts } from "./assistant.ts";
import { googleHome } from "./google-home/assistant.ts";

/** Every kind of assistant. A new one is a folder here and an entry in this list. */
export function assistantsWith(parts: AssistantParts): ReadonlyMap<string, Assistant> {
  const assistants: readonly Assistant[] = [googleHome(parts), alexa(parts)];
  return new Map(assistants.map((assistant) => [assistant.kind, assistant]));
}
