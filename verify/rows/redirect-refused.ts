import { summaryOf } from "../client/answer-summary.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const redirectRefused: Row = {
  name: "redirect-refused",
  group: "Linking a user",
  title: "Unknown addresses get no redirect",
  proves: "An unregistered redirect address and an unknown client end on a page: no code can reach another address.",
  isEssential: true,
  needs: ["client"],
  after: [],
  async run({ deployment, input }) {
    const authorize = (client_id: string, redirect_uri: string) => {
      const query = new URLSearchParams({ response_type: "code", state: "s", client_id, redirect_uri });
      return deployment.call(`/oauth2/authorize?${query}`);
    };
    const { id, redirectUri } = input.client!;
    for (const [what, answer] of [
      ["an unregistered redirect address", await authorize(id, "https://stranger.invalid/")],
      ["a registered address with a longer path", await authorize(id, `${redirectUri}/..`)],
      ["an unknown client", await authorize("no-such-client", redirectUri)],
    ] as const) {
      ensure(answer.status === 400 && answer.location === "", () => ({
        seen: `${what} was answered with ${summaryOf(answer)}${answer.location === "" ? "" : " and a redirect"}, not with a 400 page.`,
        side: "service",
        next: "Do not use this version: codes could be stolen. Call the service directly, and compare its version with the one you meant to run.",
      }));
    }
    return { seen: "Each ended on a 400 page without a redirect." };
  },
};
