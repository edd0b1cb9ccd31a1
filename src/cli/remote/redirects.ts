import { BreezewayError } from "../../model/errors.ts";
import { exitCodes } from "../exit-codes.ts";

/** For every request that carries a token, a password or a secret: a redirect would take it to another address. */
export const unfollowed = { redirect: "manual" } as const;

/** Throws when the answer is a redirect; answers it otherwise. */
export function refuseRedirect(answer: Response, url: string): Response {
  if (answer.status < 300 || answer.status >= 400) return answer;
  void answer.body?.cancel();
  throw new Redirected(url, answer.headers.get("location") ?? "");
}

export class Redirected extends BreezewayError {
  readonly code = "redirected";
  readonly exitCode = exitCodes.usage;

  constructor(url: string, location: string) {
    const { origin } = new URL(url);
    // Only the origin: the rest is another server's text.
    const target = URL.canParse(location, url) ? ` to ${new URL(location, url).origin}` : "";
    super(
      `${origin} answered with a redirect${target}. It was not followed, because the request carries a secret. Name the address of the service itself.`,
    );
  }
}
