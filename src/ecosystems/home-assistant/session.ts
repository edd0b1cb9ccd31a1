import type WebSocket from "ws";
import type { OnLimitReached } from "../../model/limits.ts";
import type { Cancel, Timers } from "../../runtime/runtime.ts";
import type { StreamEnd, StreamEndReason } from "../connector.ts";
import type { IngestTurns } from "../kit/ingest-turns.ts";
import { isJsonObject, type JsonObject, largestMessageBytes, parseJson } from "../kit/parse-json.ts";
import { StreamRateLimit } from "../kit/stream-rate-limit.ts";
import type { InstanceAccess } from "./address.ts";
import { authenticate } from "./authentication.ts";
import { LargeAnswers } from "./large-answers.ts";

export interface SessionParts {
  /** Opens the WebSocket of an instance, or says why there is none; never rejects. */
  readonly openSocket: (url: URL, signal: AbortSignal) => Promise<WebSocket | { readonly end: StreamEnd }>;
  readonly timers: Timers;
  readonly turns: Pick<IngestTurns, "take" | "forget">;
  readonly onLimitReached: OnLimitReached;
  /** A session that receives nothing for this time is dead. */
  readonly watchdogMs: number;
  /** How often the session pings: the answer proves that the instance still sends. */
  readonly pingMs: number;
  /** Time limit for an answer that may be larger than an event; 30 s. */
  readonly answerLimitMs?: number;
}

/** The answer to a call. `lost`: the session ended before it. */
export type Answer =
  | { readonly state: "succeeded"; readonly result: unknown; readonly id: number }
  | { readonly state: "failed"; readonly code: string; readonly message: string }
  | { readonly state: "lost"; readonly detail: string };

interface Subscription {
  readonly take: (event: unknown) => void;
  /** Called when the session ends before the subscription. */
  readonly ended: () => void;
  /** Called when the instance fails after it had accepted the subscription: no more events will come. */
  readonly failed: () => void;
}

/** With more text than this waiting to be parsed, the session applies back-pressure. */
const maximalUnreadLength = 256 * 1024;

/** With this many unanswered calls the session ends. An instance ends a session with as many unread messages. */
const maximalPending = 4_096;

/** One authenticated WebSocket session with an instance: numbered calls, subscriptions and pings. */
export class Session {
  readonly #socket: WebSocket;
  readonly #parts: SessionParts;
  readonly #pending = new Map<number, (answer: Answer) => void>();
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #large: LargeAnswers;
  readonly #rate = new StreamRateLimit();
  #unread: string[] = [];
  #unreadLength = 0;
  #isPaused = false;
  #throttle: Cancel | undefined;
  #lastId = 0;
  #receivedMs: number;
  #watchdog: Cancel | undefined;
  #pings: Cancel | undefined;
  #end: StreamEnd | undefined;
  #resolveEnd: (end: StreamEnd) => void = () => undefined;
  /** Resolves when the session has ended on either side. Never rejects. */
  readonly ended: Promise<StreamEnd> = new Promise((resolve) => {
    this.#resolveEnd = resolve;
  });
  /** Called when the instance has answered a ping: it has sent all that happened before. */
  ponged: () => void = () => undefined;
  /** Whether a text may report an alarm: such a text is parsed at once. */
  isUrgent: (text: string) => boolean = () => false;

  constructor(socket: WebSocket, parts: SessionParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#receivedMs = parts.timers.elapsedMs();
    const { timers, answerLimitMs = 30_000 } = parts;
    this.#large = new LargeAnswers(timers, answerLimitMs, () => this.#giveUp("the instance did not answer in time"));
  }

  /** Opens a session, or says how the attempt ended. A refused token is never tried again. */
  static async open(
    { url, token }: InstanceAccess,
    parts: SessionParts,
    signal: AbortSignal,
  ): Promise<Session | { readonly end: StreamEnd }> {
    const socket = await parts.openSocket(url, signal);
    if ("end" in socket) return socket;
    const end = await authenticate(socket, token, signal);
    if (end) {
      socket.terminate();
      return { end };
    }
    const session = new Session(socket, parts);
    session.#start();
    return session;
  }

  /** `isLarge`: the answer may be larger than an event, as registries are. */
  call(type: string, fields: JsonObject = {}, { isLarge = false } = {}): Promise<Answer> {
    const { id, answer } = this.#send(type, fields);
    if (isLarge && !this.#end) this.#large.expect(id);
    return answer;
  }

  /**
   * Calls, and hands each event of the subscription over, also one that comes with the answer. `beginsLarge`: the first
   * event holds all states, and may be larger than later events. `ended` is called when the session ends: a reaction to
   * the promise `ended` would stay in memory until then. If the instance fails later, the session ends: without its
   * subscription it would look alive and miss events.
   */
  subscribe(
    type: string,
    fields: JsonObject,
    take: (event: unknown) => void,
    { beginsLarge = false, ended = () => {} } = {},
  ): Promise<Answer> {
    const { id, answer } = this.#send(type, fields);
    if (this.#end) return answer;
    const failed = () => this.finish("refused", "the instance ended a subscription");
    this.#subscriptions.set(id, { take, ended, failed });
    if (beginsLarge) this.#large.expect(id);
    return answer;
  }

  /**
   * Subscribes, resolves with the first event, and unsubscribes. Undefined when the signal aborts, the instance refuses
   * or the session ends before the event comes.
   */
  firstEvent(type: string, fields: JsonObject, signal: AbortSignal): Promise<unknown> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(undefined);
      const { id, answer } = this.#send(type, fields);
      const settle = (event?: unknown) => {
        signal.removeEventListener("abort", abort);
        if (this.#subscriptions.has(id)) this.unsubscribe(id);
        resolve(event);
      };
      const abort = () => settle();
      signal.addEventListener("abort", abort, { once: true });
      if (!this.#end) this.#subscriptions.set(id, { take: settle, ended: abort, failed: abort });
      void answer.then(({ state }) => {
        if (state !== "succeeded") settle();
      });
    });
  }

  unsubscribe(subscription: number): void {
    this.#subscriptions.delete(subscription);
    this.#large.settle(subscription);
    void this.call("unsubscribe_events", { subscription });
  }

  finish(reason: StreamEndReason, detail: string, more: Pick<StreamEnd, "unheardMs" | "error"> = {}): void {
    if (this.#end) return;
    this.#end = { reason, detail, ...more };
    this.#watchdog?.();
    this.#throttle?.();
    this.#pings?.();
    this.#large.settleAll();
    this.#parts.turns.forget(this.#read);
    this.#socket.terminate();
    for (const settle of this.#pending.values()) settle({ state: "lost", detail });
    this.#pending.clear();
    const subscriptions = [...this.#subscriptions.values()];
    this.#subscriptions.clear();
    for (const { ended } of subscriptions) ended();
    this.#resolveEnd(this.#end);
  }

  #start(): void {
    this.#watchFor(this.#parts.watchdogMs);
    this.#pingLater();
    const socket = this.#socket;
    socket.on("message", (data, isBinary) => {
      if (isBinary) this.finish("malformed", "a binary message came, which this protocol doesn't have");
      else this.#receive(String(data));
    });
    socket.on("ping", () => this.#heard());
    socket.once("close", () => {
      this.#read();
      this.finish("closed", "the instance ended the connection");
    });
    socket.on("error", () => this.finish("malformed", "a message was too large or malformed"));
    // Older instances don't know this call; they then send one message in each frame.
    void this.call("supported_features", { features: { coalesce_messages: 1 } });
  }

  /** The instance still sends, but withholds answers. */
  #giveUp(detail: string): void {
    this.finish("silent", detail, { unheardMs: Math.ceil(this.#parts.timers.elapsedMs() - this.#receivedMs) });
  }

  #send(type: string, fields: JsonObject): { readonly id: number; readonly answer: Promise<Answer> } {
    this.#lastId += 1;
    const id = this.#lastId;
    if (this.#pending.size >= maximalPending) this.#giveUp("too many calls were not answered");
    if (this.#end) return { id, answer: Promise.resolve({ state: "lost", detail: this.#end.detail }) };
    const answer = new Promise<Answer>((settle) => this.#pending.set(id, settle));
    this.#socket.send(JSON.stringify({ id, type, ...fields }));
    return { id, answer };
  }

  #pingLater(): void {
    const { timers, pingMs } = this.#parts;
    this.#pings = timers.after(pingMs, () => {
      this.#pingLater();
      void this.#ping();
    });
  }

  async #ping(): Promise<void> {
    const answer = await this.call("ping");
    if (answer.state === "succeeded") this.ponged();
  }

  #heard(): void {
    this.#receivedMs = this.#parts.timers.elapsedMs();
  }

  /** One timer for many messages: it looks when the last one came, and waits for the rest of the time. */
  #watchFor(delayMs: number): void {
    const { timers, watchdogMs } = this.#parts;
    this.#watchdog = timers.after(delayMs, () => {
      const unheardMs = timers.elapsedMs() - this.#receivedMs;
      if (unheardMs < watchdogMs) this.#watchFor(Math.ceil(watchdogMs - unheardMs));
      // The measured silence, not the configured one: the watchdog is late if the process was suspended.
      else this.finish("silent", "nothing was heard for too long", { unheardMs: Math.ceil(unheardMs) });
    });
  }

  #receive(text: string): void {
    if (this.#end) return;
    this.#heard();
    if (text.length > largestMessageBytes && !this.#large.isAwaited) {
      this.finish("malformed", "an event was too large");
      return;
    }
    this.#limitRate(Buffer.byteLength(text));
    this.#unread.push(text);
    this.#unreadLength += text.length;
    this.#parts.turns.take(this.#read, () => this.isUrgent(text));
    if (this.#unreadLength <= maximalUnreadLength || this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  #limitRate(bytes: number): void {
    const rate = this.#large.isAwaited ? this.#large : this.#rate;
    const throttleMs = rate.read(bytes, this.#receivedMs);
    if (throttleMs === 0 || this.#throttle) return;
    this.#parts.onLimitReached("streamBytesPerSecond");
    this.#socket.pause();
    this.#throttle = this.#parts.timers.after(throttleMs, () => {
      this.#throttle = undefined;
      this.#resume();
    });
  }

  #resume(): void {
    if (!this.#end && !this.#isPaused && !this.#throttle) this.#socket.resume();
  }

  readonly #read = (): void => {
    const texts = this.#unread;
    this.#unread = [];
    this.#unreadLength = 0;
    try {
      for (const text of texts) if (!this.#end) this.#take(parseJson(text));
    } catch (error) {
      // A defect of Breezeway must not end the streams of other accounts.
      const name = error instanceof Error ? error.name : typeof error;
      this.finish("malformed", `a message could not be taken (${name})`, { error });
    }
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#resume();
  };

  /** A frame holds one message, or a list of them (`coalesce_messages`). */
  #take(frame: unknown): void {
    for (const message of Array.isArray(frame) ? frame : [frame]) {
      if (this.#end) return;
      if (isJsonObject(message) && typeof message.id === "number") this.#dispatch(message, message.id);
      else this.finish("malformed", "a message was not a JSON object with an id");
    }
  }

  #dispatch(message: JsonObject, id: number): void {
    if (message.type === "event") {
      const subscription = this.#subscriptions.get(id);
      if (!subscription) return;
      this.#large.settle(id);
      subscription.take(message.event);
      return;
    }
    // A message of another type is no answer: the call still waits for its own.
    if (message.type !== "result" && message.type !== "pong") return;
    const settle = this.#pending.get(id);
    const hasFailed = message.type === "result" && message.success !== true;
    if (hasFailed && !settle) this.#subscriptions.get(id)?.failed();
    this.#pending.delete(id);
    if (hasFailed) this.#subscriptions.delete(id);
    // The large part of a subscription is its first event, not its answer.
    if (!this.#subscriptions.has(id)) this.#large.settle(id);
    if (hasFailed) {
      const error = isJsonObject(message.error) ? message.error : {};
      settle?.({ state: "failed", code: String(error.code ?? ""), message: String(error.message ?? "") });
    } else {
      settle?.({ state: "succeeded", result: message.result, id });
    }
  }
}
