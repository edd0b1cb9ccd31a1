import { AlreadyFederated, NotFederated, UnexpectedAnswer } from "./errors.ts";
import { refusalInJson } from "./refusals.ts";
import type { Answer, CallOptions, Transport } from "./transport.ts";
import type { V3 } from "./v3.ts";

/** A linked account. */
export interface FederatedAccount {
  /** The virtual device that mirrors the whole account. */
  readonly deviceId: number;
  /** The same id as text, with the name that the adaptor uses. */
  readonly DeviceId: string;
  /** Whether the token of an existing link was replaced. Also true when a retry found the link that a lost answer had made. */
  readonly wasLinked: boolean;
}

/** The index map of a linked account. */
export interface LargeStrings {
  /** Structure's friendly name → its id in the ecosystem. */
  readonly labels: Readonly<Record<string, string>>;
  /** Id in the ecosystem → `[X]` of a structure, `[X, kind, name, structure id]` of a device. */
  readonly identifiers: Readonly<Record<string, readonly string[]>>;
}

/** The state of a link. */
export interface LinkStatus {
  readonly deviceId: number;
  readonly state: "live" | "waiting" | "needs_reauth";
  readonly reason: string | null;
  readonly presenceInfo: number;
  readonly stale: boolean;
  readonly confirmedTime: number | null;
  /** Times without data from the ecosystem, with their causes; `to` is null while one lasts. */
  readonly blindIntervals: readonly { readonly from: number; readonly to: number | null; readonly cause: string }[];
  readonly [more: string]: unknown;
}

/** What an unlinking has removed. */
export interface Unlinked {
  readonly deviceId: number;
  readonly removed: Readonly<Record<string, number>>;
  readonly tokenRevoked: boolean;
}

export interface FederateOptions extends CallOptions {
  /** The address of the account, for an ecosystem whose accounts have one each, such as Home Assistant. */
  readonly ecosystemUrl?: string | undefined;
}

type Method = "GET" | "POST" | "PUT" | "DELETE";

/**
 * The adaptor interface. The secToken is sent in a header, because URLs appear in logs.
 * @internal
 */
export class Adaptor {
  readonly #transport: Transport;
  readonly #url: () => string;

  constructor(transport: Transport, url: () => string) {
    this.#transport = transport;
    this.#url = url;
  }

  /**
   * Links the account or, if it is linked already, replaces its token: 118 repeats the call as PUT, 119 as POST. A
   * third attempt covers another client that links or unlinks at the same time. Idempotent.
   */
  async federate(
    secToken: string,
    ecosystemName: string,
    accessToken: string,
    { ecosystemUrl, ...options }: FederateOptions,
  ): Promise<FederatedAccount> {
    const address = ecosystemUrl === undefined ? {} : { anEcosystemUrl: ecosystemUrl };
    const parameters = { anEcosystemName: ecosystemName, anAccessToken: accessToken, ...address };
    let method: "POST" | "PUT" = "POST";
    for (let round = 1; ; round++) {
      try {
        const answer = await this.#call(method, "federatedtokens", secToken, parameters, options);
        const deviceId = deviceIdOf(answer);
        return { deviceId, DeviceId: String(deviceId), wasLinked: method === "PUT" };
      } catch (error) {
        if (round === 3) throw error;
        if (error instanceof AlreadyFederated && method === "POST") method = "PUT";
        else if (error instanceof NotFederated && method === "PUT") method = "POST";
        else throw error;
      }
    }
  }

  async status(secToken: string, ecosystemName: string, options: CallOptions): Promise<LinkStatus> {
    const parameters = { anEcosystemName: ecosystemName };
    const { DeviceId, ...rest } = await this.#call("GET", "federatedtokens", secToken, parameters, options);
    return { ...(rest as unknown as LinkStatus), deviceId: deviceIdOf({ DeviceId }) };
  }

  async unlink(secToken: string, ecosystemName: string, options: CallOptions): Promise<Unlinked> {
    const parameters = { anEcosystemName: ecosystemName };
    const answer = await this.#call("DELETE", "federatedtokens", secToken, parameters, options);
    const { removed, tokenRevoked } = answer as unknown as Unlinked;
    return { deviceId: deviceIdOf(answer), removed, tokenRevoked };
  }

  async largeStrings(secToken: string, deviceId: number, options: CallOptions): Promise<LargeStrings> {
    const answer = await this.#call("GET", "largestrings", secToken, { id: String(deviceId) }, options);
    return answer as unknown as LargeStrings;
  }

  /** The same with an access token, which the adaptor accepts only for this call. */
  async largeStringsByAccessToken(v3: V3, deviceId: number, options: CallOptions): Promise<LargeStrings> {
    const parameters = { id: String(deviceId) };
    const answer = await v3.withToken(options.signal, (token) =>
      this.#send("GET", "largestrings", token, parameters, options),
    );
    return read(answer) as unknown as LargeStrings;
  }

  async #call(
    method: Method,
    path: string,
    secToken: string,
    parameters: Readonly<Record<string, string>>,
    options: CallOptions,
  ): Promise<Readonly<Record<string, unknown>>> {
    return read(await this.#send(method, path, secToken, parameters, options));
  }

  #send(
    method: Method,
    path: string,
    token: string,
    parameters: Readonly<Record<string, string>>,
    { signal }: CallOptions,
  ): Promise<Answer> {
    const query = new URLSearchParams(parameters).toString();
    const hasBody = method === "POST" || method === "PUT";
    return this.#transport.send({
      method,
      url: `${this.#url()}/${path}${hasBody ? "" : `?${query}`}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(hasBody && { "content-type": "application/x-www-form-urlencoded" }),
      },
      ...(hasBody && { body: query }),
      isRepeatable: method !== "DELETE",
      secrets: [token, parameters.anAccessToken ?? ""],
      signal,
    });
  }
}

function read(answer: Answer): Readonly<Record<string, unknown>> {
  if (answer.status !== 200) throw refusalInJson(answer);
  return readObject(answer.text);
}

/** @internal */
export function readObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below: the parser's message would quote the text.
  }
  throw new UnexpectedAnswer("The answer isn't a JSON object.", 200);
}

function deviceIdOf({ DeviceId }: Readonly<Record<string, unknown>>): number {
  const deviceId = typeof DeviceId === "string" ? Number(DeviceId) : Number.NaN;
  if (!Number.isSafeInteger(deviceId)) throw new UnexpectedAnswer("The answer's DeviceId is no id.", 200);
  return deviceId;
}
