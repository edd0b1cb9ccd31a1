import type {
  Action,
  Capabilities,
  CommandOutcome,
  Connector,
  StreamEnd,
  StreamEndReason,
  StreamListener,
} from "../../src/ecosystems/connector.ts";
import type { Home } from "../../src/home/home.ts";

/** An ecosystem that does what the test says, when it says so. */
export class ScriptedConnector implements Connector {
  readonly name = "nest";
  readonly displayName = "Nest account";
  readonly capabilities: Capabilities;
  readonly streams: ScriptedStream[] = [];
  readonly reads: PromiseWithResolvers<Home>[] = [];
  /** Sent actions in order; each waits for the test's answer. */
  readonly actions: ScriptedAction[] = [];
  /** Requested pauses in order. */
  readonly pauses: { readonly end: StreamEnd; readonly failures: number }[] = [];
  pauseBetweenMs = 5_000;
  /** An action or a stream then goes on when its signal aborts. */
  ignoresSignals = false;

  constructor({ fanNeedsHome = true, endsEcoFirst = false } = {}) {
    this.capabilities = { fanNeedsHome, planning: { endsEcoFirst } };
  }

  read(): Promise<Home> {
    const read = Promise.withResolvers<Home>();
    this.reads.push(read);
    return read.promise;
  }

  follow(_token: string, listener: StreamListener, signal: AbortSignal): Promise<StreamEnd> {
    const stream = new ScriptedStream(listener, this.ignoresSignals ? new AbortController().signal : signal);
    this.streams.push(stream);
    return stream.ended;
  }

  pauseMs(end: StreamEnd, failures: number): number {
    this.pauses.push({ end, failures });
    return this.pauseBetweenMs;
  }

  act(token: string, action: Action, signal: AbortSignal): Promise<CommandOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<CommandOutcome>();
    this.actions.push({ token, ...action, answers: resolve, breaks: reject });
    const giveUp = () => {
      if (!this.ignoresSignals) resolve({ state: "unanswered", detail: "given up" });
    };
    signal.addEventListener("abort", giveUp, { once: true });
    return promise;
  }

  async revoke(): Promise<boolean> {
    return true;
  }

  /** The last opened stream. */
  get stream(): ScriptedStream {
    const stream = this.streams.at(-1);
    if (!stream) throw new Error("no stream was opened yet");
    return stream;
  }

  /** The last requested read. */
  get lastRead(): PromiseWithResolvers<Home> {
    const read = this.reads.at(-1);
    if (!read) throw new Error("nothing was read yet");
    return read;
  }
}

/** One action, and functions that settle it. */
export interface ScriptedAction extends Action {
  readonly token: string;
  readonly answers: (outcome: CommandOutcome) => void;
  readonly breaks: (error: Error) => void;
}

/** One connection: it sends what the test says, until the test or the follower ends it. */
export class ScriptedStream {
  readonly ended: Promise<StreamEnd>;
  isOpen = true;
  readonly #listener: StreamListener;
  readonly #tellEnd: (end: StreamEnd) => void;

  constructor(listener: StreamListener, signal: AbortSignal) {
    this.#listener = listener;
    const { promise, resolve } = Promise.withResolvers<StreamEnd>();
    this.ended = promise;
    this.#tellEnd = resolve;
    const stop = () => this.#end({ reason: "stopped", detail: "stopped by us" });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  }

  brings(account: Home): void {
    this.#listener.home(account);
  }

  bringsPart(): void {
    this.#listener.partial();
  }

  repeats(): void {
    this.#listener.unchanged();
  }

  isReadMoreSlowly(isSlowed: boolean): void {
    this.#listener.slowed?.(isSlowed);
  }

  isDoubtful(doubt: Parameters<NonNullable<StreamListener["doubtful"]>>[0]): void {
    this.#listener.doubtful?.(doubt);
  }

  /** What the link has used of its share of CPU. */
  get cpuShare() {
    return this.#listener.cpuShare;
  }

  ends(reason: StreamEndReason, detail = "so it was told", unheardMs?: number): void {
    this.#end({ reason, detail, ...(unheardMs !== undefined && { unheardMs }) });
  }

  #end(end: StreamEnd): void {
    this.isOpen = false;
    this.#tellEnd(end);
  }
}
