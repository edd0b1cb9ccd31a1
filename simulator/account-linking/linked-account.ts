import { randomUUID } from "node:crypto";
import { Browser, type Person } from "./browser.ts";

/** An assistant as a cloud knows it: an OAuth client. */
export interface AssistantClient {
  /** The address of the cloud. */
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
}

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly untilMs: number;
}

/** The cloud has ended the access, or refuses to give it. */
export class AccessEnded extends Error {}

const scope = "devices:read devices:control";
const waitMs = 10_000;
/** A token that ends sooner is renewed first. */
const marginMs = 60_000;

/** The account of a person that is linked to an assistant: consent, code, access token, and its renewals. */
export class LinkedAccount {
  readonly #client: AssistantClient;
  readonly #person: Person;
  #tokens: Tokens | undefined;
  /** A refresh token is used once, so calls share a renewal. */
  #renewing: Promise<Tokens> | undefined;

  constructor(client: AssistantClient, person: Person) {
    this.#client = client;
    this.#person = person;
  }

  /** Account linking: the person signs in and consents, and the assistant exchanges the code. */
  async link(): Promise<void> {
    const { baseUrl, clientId: client_id, redirectUri: redirect_uri } = this.#client;
    const state = randomUUID();
    const query = new URLSearchParams({ response_type: "code", client_id, state, redirect_uri, scope });
    const returned = await new Browser().giveAccess(`${baseUrl}/oauth2/authorize?${query}`, this.#person);
    const code = returned.searchParams.get("code");
    if (code === null || returned.searchParams.get("state") !== state) {
      throw new AccessEnded(`The cloud gave no access: ${returned.searchParams.get("error") ?? "no code"}.`);
    }
    this.#tokens = await this.#request({ grant_type: "authorization_code", code, redirect_uri });
  }

  async accessToken(): Promise<string> {
    if (!this.#tokens) throw new AccessEnded("The account is not linked.");
    if (Date.now() < this.#tokens.untilMs - marginMs) return this.#tokens.accessToken;
    const { refreshToken: refresh_token } = this.#tokens;
    this.#renewing ??= this.#request({ grant_type: "refresh_token", refresh_token }).finally(() => {
      this.#renewing = undefined;
    });
    this.#tokens = await this.#renewing;
    return this.#tokens.accessToken;
  }

  async #request(grant: Readonly<Record<string, string>>): Promise<Tokens> {
    const { baseUrl, clientId: client_id, clientSecret: client_secret } = this.#client;
    const answer = await fetch(`${baseUrl}/oauth2/access_token`, {
      method: "POST",
      body: new URLSearchParams({ ...grant, client_id, client_secret }),
      signal: AbortSignal.timeout(waitMs),
    });
    if (answer.status === 400 || answer.status === 401) {
      throw new AccessEnded("The cloud has ended the access of the assistant.");
    }
    if (!answer.ok) throw new Error(`The cloud answered ${answer.status} when a token was requested.`);
    const body = (await answer.json()) as { access_token: string; refresh_token: string; expires_in: number };
    return {
      accessToken: body.access_token,
      refreshToken: body.refresh_token,
      untilMs: Date.now() + body.expires_in * 1_000,
    };
  }
}
