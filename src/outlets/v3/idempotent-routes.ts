import { type Answer, jsonTextAnswer, ndjsonAnswer } from "../../http/answer/answer.ts";
import type { Incoming } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import type { IdempotentWrites, Keep, KeepAnswer, KeptAnswer } from "../../idempotency/idempotent-writes.ts";
import type { CallingPrincipal } from "../../identity/principal.ts";
import { ownerWithin } from "../../model/access-scope.ts";
import { BadParameter } from "../../model/errors.ts";

export interface KeyedRouteParts {
  readonly idempotency: Pick<IdempotentWrites, "run">;
  readonly tokens: { clientOf(accessToken: string): Promise<string> };
}

/**
 * Makes the function that a handler passes to its write, which stores the answer in the same transaction. Undefined for
 * a request without a key, which then costs nothing.
 */
export type KeepOf = <Result = void>(answerOf: (result: Result) => Answer) => KeepAnswer<Result> | undefined;

type BearerRoute = Extract<Route, { readonly access: "bearer" }>;
type KeyedRoute = Omit<BearerRoute, "access" | "errors" | "answer" | "takesIdempotencyKey"> & {
  /** The answer holds a secret. */
  readonly isSecret?: boolean;
  answer(incoming: Incoming, caller: CallingPrincipal, keep: KeepOf): Promise<Answer>;
};

const withoutKey: KeepOf = () => undefined;

/**
 * Adds idempotency to a write: a request that is repeated with its `Idempotency-Key` gets the first answer and changes
 * nothing.
 */
export function keyed({ idempotency, tokens }: KeyedRouteParts, route: KeyedRoute): Route {
  const { isSecret = false, answer, ...rest } = route;
  return {
    ...rest,
    access: "bearer",
    errors: "standard",
    takesIdempotencyKey: true,
    async answer(incoming, caller) {
      const key = keyOf(incoming);
      if (key === undefined) return answer(incoming, caller, withoutKey);
      const content = JSON.stringify([route.methods, route.path, incoming.pathParameters, incoming.body]);
      const clientId = await tokens.clientOf(incoming.bearer ?? "");
      const answered = await idempotency.run(
        { ownerId: ownerWithin(caller), clientId, key, content, isSecret },
        (keep: Keep) => answer(incoming, caller, (answerOf) => keep((result) => storedAnswer(answerOf(result)))),
      );
      if ("headers" in answered) return answered;
      return replayed(answered);
    },
  };
}

function replayed({ status, body }: KeptAnswer): Answer {
  const headers = { "idempotency-replayed": "true" };
  if (body === "") return { status, headers, body };
  // Only answers of lines end with a line break.
  if (body.endsWith("\n")) return { status, headers: { ...ndjsonAnswer("").headers, ...headers }, body };
  return jsonTextAnswer(status, body, headers);
}

function storedAnswer({ status, body }: Answer) {
  return { status, body: String(body) };
}

const keyShape = /^[\x20-\x7e]{1,255}$/;

/** The draft standard sends a quoted string, most clients send the bare text: both are the same key. */
export function keyOf({ idempotencyKeys }: Incoming): string | undefined {
  if (idempotencyKeys === undefined) return undefined;
  const [sent = "", ...more] = idempotencyKeys;
  const key = /^"(.*)"$/.exec(sent)?.[1]?.replace(/\\(["\\])/g, "$1") ?? sent;
  if (more.length > 0 || !keyShape.test(key)) {
    throw new BadParameter(
      "Idempotency-Key",
      "The header Idempotency-Key must be sent once and have 1 to 255 printable ASCII characters.",
    );
  }
  return key;
}
