import type { Attack } from "../attack.ts";
import { sendMany } from "../requests.ts";

/** Requests for tokens in a loop: with a client's secret alone, and with a refresh token. */
export const tokens: Attack = {
  name: "token requests",
  run: (target) =>
    sendMany(target, { count: 100_000, atOnce: 16, forMs: 10_000 }, (place) => ({
      path: "/oauth2/access_token",
      form:
        place % 2 === 0
          ? { grant_type: "client_credentials", ...target.enterprise }
          : { grant_type: "refresh_token", refresh_token: target.refreshToken, ...target.client },
    })),
};
