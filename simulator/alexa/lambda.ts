import type { AlexaMessage } from "./alexa-message.ts";
import type { Lambda } from "./skill.ts";

/** Alexa gives up after 8 seconds. */
const waitMs = 8_000;

/** The cloud gave no event as an answer. */
export class NoEvent extends Error {}

/** The skill's Lambda function: it forwards a directive to the cloud. It runs in the AWS region for North America. */
export function lambdaTo(directivesUrl: string): Lambda {
  return async (message) => {
    const response = await fetch(`${directivesUrl}?region=us-east-1`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(message),
      signal: AbortSignal.timeout(waitMs),
    }).catch(() => {
      throw new NoEvent("No answer came from the cloud.");
    });
    if (!response.ok) throw new NoEvent(`The cloud answered ${response.status}.`);
    return (await response.json()) as AlexaMessage;
  };
}
