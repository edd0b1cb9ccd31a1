import { callbackStep } from "./callback-step.ts";
import { decisionStep } from "./decision-step.ts";
import { pageStep } from "./page-step.ts";
import { signInStep } from "./sign-in-step.ts";
import type { LinkStep, StepParts } from "./step.ts";

/**
 * The requests of a browser on the link pages. The state between two requests is in the store, so that each may come to
 * another node.
 */
export function linkSteps(parts: StepParts): readonly LinkStep[] {
  return [
    pageStep(parts), // shows the page of the session's present state
    signInStep(parts), // checks name and password
    decisionStep(parts), // takes decisions, and sends the browser to the ecosystem
    callbackStep(parts), // takes the ecosystem's code, and starts the exchange
  ];
}
