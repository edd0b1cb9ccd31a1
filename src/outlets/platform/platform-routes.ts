import { xmlAnswer, xmlSlicesAnswer } from "../../http/answer/answer.ts";
import type { CallerIds, Failure } from "../../http/answer/failure.ts";
import { refusals } from "../../http/answer/refusal.ts";
import { formBody } from "../../http/request/body-types.ts";
import type { Incoming, Pairs } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import { describedOperations, type OperationRules } from "./platform-descriptions.ts";

/** The platform calls. They answer faults too, and never reject. */
export interface Platform {
  readonly operations: OperationRules;
  call(
    operation: string,
    parameters: Pairs,
    source: string,
    disconnected: AbortSignal,
  ): Promise<
    { readonly status: number; readonly caller?: CallerIds | undefined } & (
      | ({ readonly xml: string } & Partial<PlatformFault>)
      | { readonly slices: AsyncIterable<string> }
    )
  >;
}

interface PlatformFault extends Failure {
  readonly retryAfterSeconds?: number;
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
        const answer = await platform.call(operation, parametersOf(incoming), incoming.source, incoming.disconnected);
        // An unknown name is never logged: a mistyped address may hold a secret.
        const { status, caller } = answer;
        const about = { ...(platform.operations.has(operation) && { operation }), caller };
        if ("slices" in answer) return { ...xmlSlicesAnswer(status, answer.slices), about };
        const { xml, retryAfterSeconds, code, fault, error } = answer;
        const headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
        const failed = code === undefined ? {} : { failure: { code, error, ...(fault !== undefined && { fault }) } };
        return { ...xmlAnswer(status, xml, headers), about: { ...about, ...failed } };
      },
    },
  ];
}

/** All parameters of query and form: the platform calls refuse repeated ones. */
function parametersOf({ query, body }: Incoming): Pairs {
  if (body.kind === "json") throw refusals.wrongContentType(formBody);
  return body.kind === "form" ? [...query, ...body.pairs] : query;
}
