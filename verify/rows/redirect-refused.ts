import { summaryOf } from "../client/answer-summary.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";

export const redirectRefused: Row = {
  name: "redirect-refused",
  group: "Linking a user",
  title: "Strangers get no redirect",
  proves: "An unregistered redirect address and an unknown client end on a page: no code can be led astray.",
  isEssential: true,
  needs: ["client"],
  after: [],
  async run({ deployment, input }) {
    const ask = (client_id: string, redirect_uri: string) => {
      const query = new URLSearchParams({ response_type: "code", state: "s", client_id, redirect_uri });
      return deployment.call(`/oauth2/authorize?${query}`);
    };
    const { id, redirectUri } = input.client!;
    for (const [what, answer] of [
      ["an unregistered redirect address", await ask(id, "https://stranger.invalid/")],
      ["a registered one with something behind it", await ask(id, `${redirectUri}/..`)],
      ["an unknown client", await ask("no-such-client", redirectUri)],
    ] as const) {
      claim(answer.status === 400 && answer.location === "", () => ({
        seen: `${what} was answered with ${summaryOf(answer)}${answer.location === "" ? "" : " and a redirect"}, not with a 400 page.`,
        side: "service",
        next: "Stop: codes could be stolen. Ask the service itself, and compare its version with the one you meant to run.",
      }));
    }
    return { seen: "Each ended on a 400 page without a redirect." };
  },
};
