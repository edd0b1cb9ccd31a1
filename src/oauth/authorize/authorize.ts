import { decisionStep } from "./decision-step.ts";
import { loginPageStep } from "./login-page-step.ts";
import { loginStep } from "./login-step.ts";
import { requestStep } from "./request-step.ts";
import type { AuthorizeParts, AuthorizeStep } from "./step.ts";
import { termsStep } from "./terms-step.ts";

/**
 * The steps of a user through authorize (docs/interface.md, The authorization server), in order. Each step answers one
 * request of the browser and leads to the next one. The state between two steps travels with the browser.
 */
export function authorizeSteps(parts: AuthorizeParts): readonly AuthorizeStep[] {
  return [
    requestStep(parts), // checks the client's request
    loginPageStep(parts), // shows the login page
    loginStep(parts), // checks name and password
    termsStep(parts), // shows the terms
    decisionStep(parts), // takes Accept or Decline and sends the browser back to the client
  ];
}
