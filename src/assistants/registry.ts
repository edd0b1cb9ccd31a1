import type { Runtime } from "../runtime/runtime.ts";
import type { Assistant } from "./assistant.ts";
import { googleHome } from "./google-home/assistant.ts";
import type { CallMaker } from "./maker-call.ts";

/** What the service hands to every kind of assistant. */
export interface AssistantParts {
  readonly call: CallMaker;
  readonly runtime: Runtime;
  readonly newUuid: () => string;
}

/** Every kind of assistant. A new one is a folder here and an entry in this list. */
export function assistantsWith(parts: AssistantParts): ReadonlyMap<string, Assistant> {
  const assistants: readonly Assistant[] = [googleHome(parts)];
  return new Map(assistants.map((assistant) => [assistant.kind, assistant]));
}
