import { xmlAnswer, xmlSlicesAnswer } from "../answer.ts";
import { describedOperations, type OperationRules } from "../descriptions/platform.ts";
import type { Incoming, Pairs } from "../incoming.ts";
import { refusals } from "../refusal.ts";
import type { Route } from "../routes.ts";

/** The platform calls as they are handed in; they answer faults too, and never reject. */
export interface Platform {
  readonly operations: OperationRules;
  call(
    operation: string,
    parameters: Pairs,
    source: string,
    gone: AbortSignal,
  ): Promise<
    | { readonly status: number; readonly xml: string; readonly retryAfterSeconds?: number }
    | { readonly status: number; readonly slices: AsyncIterable<string> }
  >;
}

/** `{base_url}/zdk/services/zamapi/{operation}`: GET with a query or POST with a form. */
export function platformRoutes(platform: Platform): readonly Route[] {
  return [
    {
      methods: ["GET", "POST"],
      path: "/zdk/services/zamapi/:operation",
      access: "operation",
      errors: "fault",
      descriptions: describedOperations(platform.operations),
      async answer(incoming) {
        const operation = incoming.pathParameters.operation ?? "";
        const answer = await platform.call(operation, parametersOf(incoming), incoming.source, incoming.gone);
        if ("slices" in answer) return xmlSlicesAnswer(answer.status, answer.slices);
        const { status, xml, retryAfterSeconds } = answer;
        const headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
        return xmlAnswer(status, xml, headers);
      },
    },
  ];
}

/** All that was sent: the platform calls refuse what is there twice. */
function parametersOf({ query, body }: Incoming): Pairs {
  if (body.kind === "json") throw refusals.wrongContentType();
  return body.kind === "form" ? [...query, ...body.pairs] : query;
}
