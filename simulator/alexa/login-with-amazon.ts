import { randomBytes } from "node:crypto";
import type { Customer } from "./customer.ts";

/** The skill's credentials for messages to the event gateway. */
export const messagingClient = {
  clientId: "amzn1.application-oa2-client.hearth-hollow",
  clientSecret: "simulated-messaging-secret",
};

interface Grant {
  readonly customer: Customer;
  readonly refreshToken: string;
}

export interface TokenAnswer {
  readonly status: number;
  readonly body: object;
}

/** Login with Amazon: it exchanges the codes of grants, and renews access tokens. */
export class LoginWithAmazon {
  readonly #nowMs: () => number;
  readonly #codes = new Map<string, Customer>();
  readonly #grants = new Map<string, Grant>();
  readonly #accessTokens = new Map<string, { readonly customer: Customer; readonly untilMs: number }>();
  /** How long an access token is valid. */
  lifetimeSeconds = 3_600;
  /** How many access tokens were renewed. */
  renewals = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** A code as AcceptGrant brings it. */
  issueCode(customer: Customer): string {
    const code = `AN${randomBytes(12).toString("hex")}`;
    this.#codes.set(code, customer);
    return code;
  }

  /** The customer of a valid access token. */
  customerOf(accessToken: string): Customer | undefined {
    const found = this.#accessTokens.get(accessToken);
    return found && this.#nowMs() < found.untilMs ? found.customer : undefined;
  }

  /** Makes every access token invalid ahead of its time. */
  endAccessTokens(): void {
    this.#accessTokens.clear();
  }

  /** The customer has disabled the skill: nothing is renewed any more. */
  endGrantsOf(customer: Customer): void {
    for (const [token, grant] of this.#grants) if (grant.customer === customer) this.#grants.delete(token);
  }

  answer(form: URLSearchParams): TokenAnswer {
    const field = (name: string) => form.get(name) ?? "";
    const isClient = field("client_id") === messagingClient.clientId;
    if (!isClient || field("client_secret") !== messagingClient.clientSecret) return refused(401, "invalid_client");
    if (field("grant_type") === "authorization_code") {
      const customer = this.#codes.get(field("code"));
      this.#codes.delete(field("code"));
      return customer
        ? this.#issue({ customer, refreshToken: `Atzr|${randomBytes(12).toString("hex")}` })
        : invalidGrant;
    }
    if (field("grant_type") !== "refresh_token") return refused(400, "unsupported_grant_type");
    const grant = this.#grants.get(field("refresh_token"));
    if (grant) this.renewals += 1;
    return grant ? this.#issue(grant) : invalidGrant;
  }

  #issue(grant: Grant): TokenAnswer {
    const accessToken = `Atza|${randomBytes(12).toString("hex")}`;
    this.#grants.set(grant.refreshToken, grant);
    const untilMs = this.#nowMs() + this.lifetimeSeconds * 1_000;
    this.#accessTokens.set(accessToken, { customer: grant.customer, untilMs });
    const { refreshToken } = grant;
    const body = {
      access_token: accessToken,
      refresh_token: refreshToken,
      token_type: "bearer",
      expires_in: this.lifetimeSeconds,
    };
    return { status: 200, body };
  }
}

const invalidGrant = refused(400, "invalid_grant");

function refused(status: number, error: string): TokenAnswer {
  return { status, body: { error, error_description: "The request is not valid." } };
}
