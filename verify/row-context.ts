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

/** What rows find and later rows go on with; `after` says who may rely on what. */
export interface Found {
  /** Where the browser was sent, and what the code was asked for with. */
  returned?: { readonly address: URL; readonly state: string; readonly verifier: string };
  tokens?: Tokens;
  userId?: number;
  secToken?: string;
  account?: { readonly id: string; readonly token: string };
  /** How far the times of the service are ahead of ours, its answer included. */
  clockAheadMs?: number;
  /** The virtual device. */
  linkedId?: number;
}

export interface RowContextParts {
  readonly input: VerifyInput;
  readonly visitor: Visitor | undefined;
  readonly signal: AbortSignal;
  readonly secrets?: Secrets;
  /** Lets time pass; only the longest waits go through it. */
  readonly pause?: (ms: number) => Promise<void>;
}

/** How long something that follows by itself may take. */
const patienceMs = 10_000;
const undoingMs = 20_000;

/** What the rows of one run share: the input, the clients, what earlier rows found, and the work to undo. */
export class RowContext {
  readonly input: VerifyInput;
  readonly deployment: Deployment;
  readonly visitor: Visitor | undefined;
  readonly simulator: SimulatorControl | undefined;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  readonly found: Found = {};
  readonly #pause: (ms: number) => Promise<void>;
  readonly #afterRow: (() => Promise<unknown>)[] = [];
  readonly #inTheEnd: (() => Promise<unknown>)[] = [];
  /** Undoing goes on after an interruption, but not for ever. */
  #undoing: AbortSignal | undefined;

  constructor({ input, visitor, signal, secrets = new Secrets(), pause }: RowContextParts) {
    this.input = input;
    this.visitor = visitor;
    this.signal = signal;
    this.secrets = secrets;
    this.deployment = new Deployment(input.url, () => this.#undoing ?? signal);
    this.simulator = input.simulator && new SimulatorControl(input.simulator.url);
    this.#pause = pause ?? ((ms) => wait(ms, signal));
    secrets.keep(input.client?.secret);
    secrets.keep(input.person?.password);
  }

  /** Whatever happens, this is done when the row is over, the latest first. */
  afterwards(undo: () => Promise<unknown>): void {
    this.#afterRow.push(undo);
  }

  /** The same when all rows are over. */
  inTheEnd(undo: () => Promise<unknown>): void {
    this.#inTheEnd.push(undo);
  }

  async rowIsOver(): Promise<void> {
    await this.#undo(this.#afterRow);
  }

  async cleanUp(): Promise<void> {
    await this.#undo(this.#inTheEnd);
  }

  async #undo(list: (() => Promise<unknown>)[]): Promise<void> {
    this.#undoing = AbortSignal.timeout(undoingMs);
    for (const undo of list.splice(0).reverse()) await undo().catch(() => undefined);
    this.#undoing = undefined;
  }

  pause(ms: number): Promise<void> {
    return this.#pause(ms);
  }

  /** Asks again until there is an answer other than undefined. */
  async eventually<Value>(
    ask: () => Promise<Value | undefined>,
    orElse: () => Finding,
    withinMs = patienceMs,
  ): Promise<Value> {
    const untilMs = performance.now() + withinMs;
    for (;;) {
      const value = await ask();
      if (value !== undefined) return value;
      if (performance.now() > untilMs) throw new Failure(orElse());
      await wait(50, this.signal);
    }
  }
}

export function wait(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = () => reject(signal.reason);
  const timer = setTimeout(() => {
    signal.removeEventListener("abort", stop);
    resolve();
  }, ms);
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  signal.addEventListener("abort", stop, { once: true });
  return promise;
}
