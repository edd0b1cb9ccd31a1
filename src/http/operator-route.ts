import { NotSignedIn, PasswordNeeded } from "../model/errors.ts";
import type { Operator } from "../operators/operator.ts";
import { type OperatorRule, requireRule } from "../operators/operator-rule.ts";
import { type Answer, redirectAnswer, type SlicedAnswer, type StreamAnswer } from "./answer/answer.ts";
import type { CallerIds } from "./answer/failure.ts";
import type { Description } from "./documentation/description.ts";
import type { Callers } from "./request/caller.ts";
import type { Incoming } from "./request/incoming.ts";
import { refuseMistyped } from "./request/mistyped-parameters.ts";
import { callerByOperator } from "./request/operator-caller.ts";

/** A route whose access rule is `operator`. */
export interface OperatorRoute extends OperatorRule {
  readonly access: "operator";
  readonly description: Description;
  /** Pages for a browser that has no session, and for one whose operator must type the password again. */
  readonly pages?: { readonly signIn: string; readonly password: string };
  /** Pages send this request by themselves, so it does not prolong the session. */
  readonly isSentByScript?: true;
  answer(incoming: Incoming, operator: Operator): Promise<Answer | SlicedAnswer | StreamAnswer>;
}

/** Sends a browser to the page for signing in, or for the password, and then back to where it was. */
export async function operatorAnswer(
  route: OperatorRoute & { readonly methods: readonly string[]; readonly isStream?: true },
  incoming: Incoming,
  callers: Callers,
  setCaller: (ids: CallerIds) => void,
): Promise<Answer | SlicedAnswer | StreamAnswer> {
  const isRead = route.methods.includes("GET");
  // A fragment is fetched by a script, which must see the status.
  const isFragment = incoming.query.some(([name]) => name === "parts");
  try {
    const isUse = !isFragment && !route.isSentByScript;
    const operator = await callerByOperator(incoming, callers.operators, { isChange: !isRead, isUse });
    setCaller({ operatorId: operator.operatorId });
    requireRule(operator, route);
    if (isRead) refuseMistyped(incoming.query, route.description);
    const answer = () => route.answer(incoming, operator);
    const turns = route.isStream ? undefined : callers.operators?.callTurns;
    return await (turns ? turns.run(operator, answer, incoming.disconnected) : answer());
  } catch (error) {
    const page =
      error instanceof NotSignedIn
        ? route.pages?.signIn
        : error instanceof PasswordNeeded
          ? route.pages?.password
          : undefined;
    if (page === undefined || isFragment) throw error;
    const returns = isRead && !holdsCredential.test(incoming.target);
    const to = returns ? `?to=${encodeURIComponent(incoming.target)}` : "";
    return redirectAnswer(303, `${page}${to}`);
  }
}

/** An address with a secret in it, which somebody has put there by mistake, is not repeated. */
const holdsCredential = /(?:bws|bwa|bwr|bwcs|bwop|bwol|whsec)_/;
