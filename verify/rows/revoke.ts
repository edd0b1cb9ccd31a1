import { summaryOf } from "../client/answer-summary.ts";
import { revoke as askFor, isDead, refresh, statusWith } from "../client/authorization.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";
import { wait } from "../row-context.ts";

/** No node answers 200 later than this. */
const promisedMs = 1_000;
const watchedMs = 1_400;

export const revoke: Row = {
  name: "revoke",
  group: "Linking a user",
  title: "Revoking ends it within a second",
  proves: "Once a token is revoked, neither token of the grant gets a 200 later than a second after.",
  isEssential: true,
  needs: [],
  after: ["exchange", "errors"],
  async run(context) {
    const { accessToken, refreshToken } = context.found.tokens!;
    const before = await statusWith(context, accessToken);
    const answer = await askFor(context, refreshToken);
    const startMs = performance.now();
    claim(before === 200 && answer.status === 200, () => ({
      seen: `The access token was answered with ${before} before, and its revocation with ${summaryOf(answer)}; both should be 200.`,
      side: "service",
      next: "Look for the answer's request id in the service's log.",
    }));
    let lastGoodMs = -1;
    for (let elapsedMs = 0; elapsedMs < watchedMs; elapsedMs = performance.now() - startMs) {
      const askedMs = performance.now() - startMs;
      if ((await statusWith(context, accessToken)) === 200) lastGoodMs = askedMs;
      await wait(100, context.signal);
    }
    claim(lastGoodMs < promisedMs, () => ({
      seen: `A revoked access token still got a 200 ${(lastGoodMs / 1_000).toFixed(1)} seconds after its revocation.`,
      side: "between",
      next: "Let nothing cache answers of /v3: ask the service itself, and turn off what answers in its place.",
    }));
    const dead = await refresh(context, refreshToken);
    claim(isDead(dead), () => ({
      seen: `The revoked refresh token was answered with ${summaryOf(dead)}, not 400 invalid_grant.`,
      side: "service",
      next: "Compare the running version with the one you meant to deploy.",
    }));
    return {
      seen:
        lastGoodMs < 0 ? "Refused from the first call on." : `The last 200 came ${Math.round(lastGoodMs)} ms after.`,
    };
  },
};
