import { setTimeout as delay } from "node:timers/promises";
import { Deployment } from "./client/deployment.ts";
import { SimulatorControl } from "./client/simulator-control.ts";
import { Failure, type Finding } from "./outcome.ts";
import { Secrets } from "./secrets.ts";
import type { VerifyInput } from "./verify-input.ts";
import type { Visitor } from "./visitor/visitor.ts";

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Values that a row stores for later rows. A row may use those of the rows in its `after`. */
export interface SharedState {
  /** The redirect to the client, and the state and PKCE verifier of its request. */
  returned?: { readonly address: URL; readonly state: string; readonly verifier: string };
  tokens?: Tokens;
  userId?: number;
  secToken?: string;
  account?: { readonly id: string; readonly token: string };
  /** How far the service's clock is ahead of this machine's, plus the duration of the call. */
  clockAheadMs?: number;
  /** The virtual device. */
  linkedId?: number;
}

export interface RowContextParts {
  readonly input: VerifyInput;
  readonly visitor: Visitor | undefined;
  readonly signal: AbortSignal;
  readonly secrets?: Secrets;
  /** Replaces the wait of `pause` in tests. */
  readonly pause?: (ms: number) => Promise<void>;
}

const timeoutMs = 10_000;
const cleanUpMs = 20_000;

/** What the rows of one run share: the input, the clients, the values of earlier rows, and the pending clean-up. */
export class RowContext {
  readonly input: VerifyInput;
  readonly deployment: Deployment;
  readonly visitor: Visitor | undefined;
  readonly simulator: SimulatorControl | undefined;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  readonly shared: SharedState = {};
  readonly #pause: (ms: number) => Promise<void>;
  readonly #rowCleanUps: (() => Promise<unknown>)[] = [];
  readonly #finalCleanUps: (() => Promise<unknown>)[] = [];
  /** Clean-up also runs after an interruption, so it has a signal of its own. */
  #cleanUpSignal: AbortSignal | undefined;

  constructor({ input, visitor, signal, secrets = new Secrets(), pause }: RowContextParts) {
    this.input = input;
    this.visitor = visitor;
    this.signal = signal;
    this.secrets = secrets;
    this.deployment = new Deployment(input.url, () => this.#cleanUpSignal ?? signal);
    this.simulator = input.simulator && new SimulatorControl(input.simulator.url);
    this.#pause = pause ?? ((ms) => wait(ms, signal));
    secrets.keep(input.client?.secret);
    secrets.keep(input.person?.password);
  }

  /** Registers clean-up that runs when the row has ended in any way, the latest first. */
  afterRow(cleanUp: () => Promise<unknown>): void {
    this.#rowCleanUps.push(cleanUp);
  }

  /** Registers clean-up that runs when all rows have ended. */
  afterAllRows(cleanUp: () => Promise<unknown>): void {
    this.#finalCleanUps.push(cleanUp);
  }

  async cleanUpRow(): Promise<void> {
    await this.#run(this.#rowCleanUps);
  }

  async cleanUp(): Promise<void> {
    await this.#run(this.#finalCleanUps);
  }

  async #run(list: (() => Promise<unknown>)[]): Promise<void> {
    this.#cleanUpSignal = AbortSignal.timeout(cleanUpMs);
    for (const cleanUp of list.splice(0).reverse()) await cleanUp().catch(() => undefined);
    this.#cleanUpSignal = undefined;
  }

  pause(ms: number): Promise<void> {
    return this.#pause(ms);
  }

  /** Polls until `read` gives a value other than undefined; throws the failure after the timeout. */
  async eventually<Value>(
    read: () => Promise<Value | undefined>,
    failure: () => Finding,
    withinMs = timeoutMs,
  ): Promise<Value> {
    const untilMs = performance.now() + withinMs;
    for (;;) {
      const value = await read();
      if (value !== undefined) return value;
      if (performance.now() > untilMs) throw new Failure(failure());
      await wait(50, this.signal);
    }
  }
}

/** Rejects with the signal's reason when it is aborted. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
