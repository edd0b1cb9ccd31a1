import type { SimulatedAssistant } from "../../../simulator/assistants/assistant.ts";
import { Busy } from "../../../simulator/assistants/conversation.ts";
import type { AssistantKind } from "../../../src/assistants/assistant.ts";
import { assistantKinds } from "../../../src/assistants/assistant.ts";
import { type Answer, redirectAnswer } from "../../../src/http/answer/answer.ts";
import type { Incoming } from "../../../src/http/request/incoming.ts";
import type { GuestRoute } from "../../../src/http/routes.ts";
import { pathOf } from "./assistant-page.ts";

export interface AssistantRouteParts {
  /** The answer to a browser without access; undefined if the browser has access. */
  refusal(incoming: Incoming): Answer | undefined;
  /** The answer to a form that did not come from the demo's pages; undefined if it did. */
  formRefusal(incoming: Incoming): Answer | undefined;
  fieldOf(incoming: Incoming, name: string): string | undefined;
  assistant(kind: AssistantKind): SimulatedAssistant;
  page(kind: AssistantKind, status: number, notice?: string): Promise<Answer>;
}

/** The pages of the simulated assistants. */
export function assistantRoutes(parts: AssistantRouteParts): readonly GuestRoute[] {
  const { refusal, formRefusal, fieldOf, assistant, page } = parts;
  const first = ["/demo/assistants", "/demo/assistants/"].map(
    (path): GuestRoute => ({
      methods: ["GET"],
      path,
      access: "public",
      errors: "page",
      answer: async () => redirectAnswer(302, pathOf("alexa")),
    }),
  );
  const ofKinds = assistantKinds.flatMap((kind): readonly GuestRoute[] => [
    {
      methods: ["GET"],
      path: pathOf(kind),
      access: "public",
      errors: "page",
      answer: async (incoming) => refusal(incoming) ?? page(kind, 200),
    },
    {
      methods: ["POST"],
      path: pathOf(kind),
      access: "public",
      errors: "page",
      async answer(incoming) {
        const refused = refusal(incoming) ?? formRefusal(incoming);
        if (refused) return refused;
        const action = fieldOf(incoming, "act") ?? "";
        try {
          const isKnown = await act(assistant(kind), action, fieldOf(incoming, "sentence") ?? "");
          return isKnown ? redirectAnswer(303, pathOf(kind)) : page(kind, 409, "The page has no such button.");
        } catch (error) {
          if (error instanceof Busy) return page(kind, 409, error.message);
          throw error;
        }
      },
    },
  ]);
  return [...first, ...ofKinds];
}

/** Does what a button of the page asks for. Returns false if there is no such button. */
async function act(assistant: SimulatedAssistant, action: string, typed: string): Promise<boolean> {
  const [, example] = /^say:(.*)$/.exec(action) ?? [];
  if (action === "discover") await assistant.discover();
  else if (action === "say") await assistant.say(typed.trim());
  else if (example !== undefined) await assistant.say(example);
  else if (action === "link") await assistant.link();
  else return false;
  return true;
}
