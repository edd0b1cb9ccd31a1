import {
  type AccessTokens,
  Breezeway,
  type DeviceQuestion,
  type EventOptions,
  type HomeEvent,
} from "../../../sdk/src/index.ts";
import type { ShownDevice } from "../devices/friendly-names.ts";
import { type CallFacts, commandError } from "./service-errors.ts";

/** Where the service is, the tokens for it, and what to do when it refuses them. */
export interface Credentials extends AccessTokens {
  readonly baseUrl: string;
  /** The security token for the adaptor. Throws NotAuthorised when there is none. */
  secToken(): Promise<string>;
  /** Gets a new token and address after a lost connection: the service may have restarted on another port. */
  renewAccess?(): Promise<void>;
  /** Ends the tokens that were issued for this one command. */
  revokeTokens?(): Promise<void>;
  /** What to do when the service refuses the access token. */
  readonly nextStep: string;
  /** What to do when the adaptor refuses the security token. */
  readonly secTokenStep?: string;
}

/** Calls of the SDK. */
type Work<Result> = (sdk: Breezeway) => Promise<Result>;

export interface ReadOptions {
  readonly withinMs?: number;
  /** The device that a refusal is about. */
  readonly deviceId?: number;
}

/** Short, so that a frozen service is reported soon. */
const readWithinMs = 15_000;
/** Long, because the outcome of an abandoned write is unknown. */
const writeWithinMs = 300_000;
/** How long the head of a stream's answer may take. */
const headWithinMs = 4_000;
const heartbeatSeconds = 2;

/**
 * Calls the chosen service through the SDK, without retries. Errors get an exit code and a sentence with the next step.
 */
export class Api {
  readonly #credentials: Credentials;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  get baseUrl(): string {
    return this.#credentials.baseUrl;
  }

  /** Reads with the access token. */
  read<Result>(work: Work<Result>, { withinMs = readWithinMs, deviceId }: ReadOptions = {}): Promise<Result> {
    return this.#during(work(this.#byAccessToken(withinMs)), { deviceId });
  }

  /** Changes something with the access token. */
  write<Result>(work: Work<Result>, deviceId?: number): Promise<Result> {
    return this.#during(work(this.#byAccessToken(writeWithinMs)), { deviceId, isWrite: true });
  }

  async getDevice(deviceId: number, question: DeviceQuestion = {}, withinMs = readWithinMs): Promise<ShownDevice> {
    const device = await this.read((sdk) => sdk.getDevice(deviceId, question), { deviceId, withinMs });
    return device as ShownDevice;
  }

  /** Calls the adaptor with the user's security token. */
  async asUser<Result>(work: Work<Result>, { isWrite = false } = {}): Promise<Result> {
    const secToken = await this.#credentials.secToken();
    const sdk = new Breezeway({ baseUrl: this.baseUrl, secToken, timeoutMs: writeWithinMs, retries: 0 });
    const nextStep = this.#credentials.secTokenStep ?? this.#credentials.nextStep;
    return this.#during(work(sdk), { isWrite, nextStep });
  }

  async renewAccess(): Promise<void> {
    await this.#credentials.renewAccess?.();
  }

  async revokeTokens(): Promise<void> {
    await this.#credentials.revokeTokens?.();
  }

  /**
   * The events of one connection, heartbeats included. Throws when the connection is lost; the SDK does not reconnect,
   * because the next connection may need another token and another address.
   */
  async *connection(options: EventOptions): AsyncGenerator<HomeEvent, void> {
    const over = new AbortController();
    let reason: unknown;
    const onDisconnected = (lost: unknown) => {
      reason = lost;
      over.abort();
    };
    const signal = options.signal ? AbortSignal.any([options.signal, over.signal]) : over.signal;
    const following = { ...options, heartbeats: true, heartbeatSeconds, signal, onDisconnected };
    try {
      yield* this.#byAccessToken(headWithinMs).events(following);
    } catch (error) {
      throw this.#explained(error, {});
    }
    if (reason !== undefined) throw this.#explained(reason, {});
  }

  #byAccessToken(timeoutMs: number): Breezeway {
    return new Breezeway({ baseUrl: this.baseUrl, accessToken: this.#credentials, timeoutMs, retries: 0 });
  }

  async #during<Result>(call: Promise<Result>, facts: CallFacts): Promise<Result> {
    try {
      return await call;
    } catch (error) {
      throw this.#explained(error, facts);
    }
  }

  #explained(error: unknown, facts: CallFacts): unknown {
    return commandError(error, this.baseUrl, { nextStep: this.#credentials.nextStep, ...facts });
  }
}
