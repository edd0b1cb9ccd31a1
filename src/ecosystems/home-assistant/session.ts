import type WebSocket from "ws";
import { type LimitName, limits, type OnLimitReached } from "../../model/limits.ts";
import type { ReadLargeJson } from "../../runtime/json/json-thread.ts";
import type { Projection } from "../../runtime/json/projection.ts";
import {
  isBeyond,
  isJsonObject,
  type JsonObject,
  messageBounds,
  parseUntrusted,
} from "../../runtime/json/untrusted-json.ts";
import { LeakyBucket } from "../../runtime/leaky-bucket.ts";
import type { Cancel, Timers } from "../../runtime/runtime.ts";
import type { StreamEnd, StreamEndReason } from "../connector.ts";
import { textOf } from "../kit/document-values.ts";
import { IngestShare, threadCostPerByteMs } from "../kit/ingest-share.ts";
import type { IngestStream, IngestTurns } from "../kit/ingest-turns.ts";
import type { InstanceAccess } from "./address.ts";
import { authenticate } from "./authentication.ts";
import { LargeAnswers } from "./large-answers.ts";
import { errorDetail, type InstanceSocket } from "./socket.ts";

/** In tests a socket without a limit of its own. */
type SessionSocket = WebSocket & Partial<Pick<InstanceSocket, "limitMessages" | "takeCostMs">>;

export interface SessionParts {
  /** Opens the WebSocket of an instance, or says why there is none; never rejects. */
  readonly openSocket: (url: URL, signal: AbortSignal) => Promise<SessionSocket | { readonly end: StreamEnd }>;
  readonly timers: Timers;
  readonly turns: Pick<IngestTurns, "take" | "forget">;
  /** Reads messages that are too large for the event loop. */
  readonly readLarge: ReadLargeJson;
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

/** What handles an event. A generator yields after each piece of the work, so that others get their turn. */
export type TakeEvent = (event: unknown) => Generator<undefined> | undefined;

interface Subscription {
  readonly take: TakeEvent;
  /** What the event of a message names; everything within the bounds of a message when left out. */
  readonly projection: Projection;
  /** Called when the session ends before the subscription. */
  readonly ended: () => void;
  /** Called when the instance fails after it had accepted the subscription: no more events will come. */
  readonly failed: () => void;
}

/** With more text than this waiting to be applied, the session applies back-pressure. */
const unreadLimit = 64 * 1024;
/** Each message takes this much beside its text. */
const messageOverhead = 64;
/** Estimated CPU time of receiving one message, however small it is. */
const messageCostMs = 0.005;
/**
 * How often a session is read. Reading each message of a busy session by itself takes longer than applying it. An alarm
 * waits for a read at most 20 ms.
 */
const reads = { perSecond: 50, atOnce: 25 };
/** More messages in a frame are not applied. */
const messagesPerFrame = 20_000;

/** With this many unanswered calls the session ends. An instance ends a session with as many unread messages. */
const maximalPending = 4_096;

/** What a listener of the session's text needs. */
export interface SessionObserver {
  /** The instance has answered a ping: it has sent everything that happened before. */
  ponged(): void;
  /** Whether a text may report an alarm: such a text is applied before those of other sessions. */
  isUrgent(text: string): boolean;
  /** Events were applied, and others get their turn now. */
  endTurn(): void;
  /** The link's share of CPU; undefined when the session is not that of a link. */
  readonly cpuShare: LeakyBucket | undefined;
  /** CPU time that the consequences of events took since the last call. */
  takeCostMs(): number;
  /** The session is read more slowly, or no longer so. */
  slowed(isSlowed: boolean): void;
}

const noObserver: SessionObserver = {
  ponged: () => undefined,
  isUrgent: () => false,
  endTurn: () => undefined,
  cpuShare: undefined,
  takeCostMs: () => 0,
  slowed: () => undefined,
};

/** One authenticated WebSocket session with an instance: numbered calls, subscriptions and pings. */
export class Session implements IngestStream {
  readonly #socket: SessionSocket;
  readonly #parts: SessionParts;
  /** For fair turns among sessions. */
  readonly #source: string;
  readonly #pending = new Map<number, { readonly settle: (answer: Answer) => void; readonly projection: Projection }>();
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #large: LargeAnswers;
  readonly #rate = new LeakyBucket({ perSecond: limits.streamBytesPerSecond, atOnce: limits.streamBytesAtOnce });
  readonly #share: IngestShare;
  /** Messages that are not applied yet, oldest first. */
  readonly #unread: (string | Buffer)[] = [];
  #unreadBytes = 0;
  /** CPU time outside of turns that is not paid for: of receiving messages, and of the thread that reads large ones. */
  #receivingMs = 0;
  /** Applies the unread messages. Undefined when there are none. */
  #work: Generator<"wait" | undefined> | undefined;
  /** Whether a waiting text may report an alarm. */
  #mayAlarm = false;
  #isPaused = false;
  #throttle: Cancel | undefined;
  /** Ends the pause of a session that has used more than its share of CPU. */
  #slowPause: Cancel | undefined;
  /** Ends the pause between two reads. */
  #readPause: Cancel | undefined;
  readonly #reads = new LeakyBucket(reads);
  /** The instance has closed the connection: what has arrived is still applied. */
  #isClosing = false;
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
  observer: SessionObserver = noObserver;

  constructor(socket: SessionSocket, source: string, parts: SessionParts) {
    this.#socket = socket;
    this.#source = source;
    this.#parts = parts;
    this.#receivedMs = parts.timers.elapsedMs();
    const { timers, onLimitReached, answerLimitMs = 30_000 } = parts;
    const cpuShareOf = () => this.observer.cpuShare;
    const listener = {
      get cpuShare() {
        return cpuShareOf();
      },
      takeCostMs: () => this.observer.takeCostMs() + (socket.takeCostMs?.() ?? 0),
      slowed: (isSlowed: boolean) => this.observer.slowed(isSlowed),
    };
    this.#share = new IngestShare({ listener, elapsedMs: timers.elapsedMs, onLimitReached });
    const late = () => this.#giveUp("the instance did not answer in time");
    this.#large = new LargeAnswers(timers, answerLimitMs, late, (bytes) => socket.limitMessages?.(bytes));
    socket.limitMessages?.(limits.streamMessageBytes);
  }

  /** Opens a session, or says how the attempt ended. A refused token is never tried again. */
  static async open(
    { url, token, consentKey }: InstanceAccess,
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
    const session = new Session(socket, consentKey, parts);
    session.#start();
    return session;
  }

  /** `large`: the answer may be larger than an event, as registries are, and this is read of it. */
  call(type: string, fields: JsonObject = {}, { large }: { readonly large?: Projection } = {}): Promise<Answer> {
    const { id, answer } = this.#send(type, fields, large);
    if (large !== undefined && !this.#end) this.#large.expect(id);
    return answer;
  }

  /**
   * Calls, and hands each event of the subscription over, also one that comes with the answer. `beginsLarge`: the first
   * event holds all states, and may be larger than later events. `projection`: what is read of an event. `ended` is called when the session ends: a reaction to
   * the promise `ended` would stay in memory until then. If the instance fails later, the session ends: without its
   * subscription it would look alive and miss events.
   */
  subscribe(
    type: string,
    fields: JsonObject,
    take: TakeEvent,
    { beginsLarge = false, projection = true as Projection, ended = () => {} } = {},
  ): Promise<Answer> {
    const { id, answer } = this.#send(type, fields);
    if (this.#end) return answer;
    const failed = () => this.finish("refused", "the instance ended a subscription");
    this.#subscriptions.set(id, { take, projection, ended, failed });
    if (beginsLarge) this.#large.expect(id);
    return answer;
  }

  /**
   * Subscribes, resolves with the first event, and unsubscribes. Undefined when the signal aborts, the instance refuses
   * or the session ends before the event comes.
   */
  firstEvent(type: string, fields: JsonObject, projection: Projection, signal: AbortSignal): Promise<unknown> {
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
      const take = (event: unknown) => {
        settle(event);
        return undefined;
      };
      if (!this.#end) this.#subscriptions.set(id, { take, projection, ended: abort, failed: abort });
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

  limitReached(limit: LimitName): void {
    this.#parts.onLimitReached(limit);
  }

  finish(reason: StreamEndReason, detail: string, more: Pick<StreamEnd, "unheardMs" | "error"> = {}): void {
    if (this.#end) return;
    this.#end = { reason, detail, ...more };
    this.#watchdog?.();
    this.#throttle?.();
    this.#slowPause?.();
    this.#readPause?.();
    this.#pings?.();
    this.#large.settleAll();
    this.#parts.turns.forget(this);
    this.#unread.length = 0;
    this.#work = undefined;
    this.#socket.terminate();
    for (const { settle } of this.#pending.values()) settle({ state: "lost", detail });
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
      else this.#receive(data as Buffer);
    });
    socket.on("ping", () => {
      this.#heard();
      this.#limitRate(messageOverhead);
    });
    socket.once("close", () => {
      this.#isClosing = true;
      this.#slowPause?.();
      this.#slowPause = undefined;
      if (this.#unread.length === 0 && !this.#work) this.#finishClosed();
      else this.#parts.turns.take(this);
    });
    socket.on("error", (error) => this.finish("malformed", errorDetail(error)));
    // Older instances don't know this call; they then send one message in each frame.
    void this.call("supported_features", { features: { coalesce_messages: 1 } });
  }

  /** The instance still sends, but withholds answers. */
  #giveUp(detail: string): void {
    this.finish("silent", detail, { unheardMs: Math.ceil(this.#parts.timers.elapsedMs() - this.#receivedMs) });
  }

  #send(type: string, fields: JsonObject, projection = smallResult) {
    this.#lastId += 1;
    const id = this.#lastId;
    if (this.#pending.size >= maximalPending) this.#giveUp("too many calls were not answered");
    if (this.#socket.bufferedAmount > limits.unsentCallBytes) this.#giveUp("the instance does not read its messages");
    if (this.#end) return { id, answer: Promise.resolve<Answer>({ state: "lost", detail: this.#end.detail }) };
    const answer = new Promise<Answer>((settle) => this.#pending.set(id, { settle, projection }));
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
    if (answer.state === "succeeded") this.observer.ponged();
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

  #receive(data: Buffer | string): void {
    if (this.#end) return;
    this.#heard();
    const bytes = Buffer.byteLength(data);
    if (bytes > limits.streamMessageBytes && !this.#large.isAwaited) {
      this.finish("malformed", "an event was too large");
      return;
    }
    this.#limitRate(bytes);
    // A thread takes a large Buffer over: as text it would be copied.
    this.#unread.push(bytes > messageBounds.bytes ? data : String(data));
    this.#unreadBytes += bytes + messageOverhead;
    this.#receivingMs += messageCostMs;
    if (!this.#slowPause) this.#parts.turns.take(this);
    if (this.#unreadBytes <= unreadLimit || this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  #limitRate(bytes: number): void {
    const throttleMs = this.#large.isAwaited
      ? this.#large.add(bytes, this.#receivedMs)
      : this.#rate.add(bytes, this.#receivedMs);
    if (throttleMs === 0 || this.#throttle) return;
    this.#parts.onLimitReached("streamBytesPerSecond");
    this.#socket.pause();
    this.#throttle = this.#parts.timers.after(throttleMs, () => {
      this.#throttle = undefined;
      this.#resume();
    });
  }

  #resume(): void {
    if (this.#end || this.#isPaused || this.#throttle || this.#slowPause || this.#readPause) return;
    this.#socket.resume();
  }

  isUrgent(): boolean {
    // A session beyond its share must not overtake others. Its own alarms wait in at most `unreadLimit` bytes of text.
    if (this.#share.isSlowed) return false;
    const last = this.#unread.at(-1);
    this.#mayAlarm ||= typeof last === "string" && this.observer.isUrgent(last);
    return this.#mayAlarm;
  }

  step(): boolean {
    if (this.#end) return false;
    this.#work ??= this.#applyUnread();
    try {
      const { done, value } = this.#work.next();
      if (!done) return value !== "wait";
      this.#work = undefined;
      if (this.#isClosing) this.#finishClosed();
    } catch (error) {
      // A defect of Breezeway must not end the streams of other accounts.
      const name = error instanceof Error ? error.name : typeof error;
      this.finish("malformed", `a message could not be taken (${name})`, { error });
    }
    return false;
  }

  endTurn(): void {
    if (!this.#end) this.observer.endTurn();
  }

  spent(ms: number): boolean {
    if (this.#end) return false;
    const pauseMs = this.#share.spend(ms + this.#receivingMs);
    this.#receivingMs = 0;
    if (pauseMs === 0) this.#pauseReading();
    if (pauseMs === 0 || this.#isClosing) return true;
    this.#socket.pause();
    this.#slowPause = this.#parts.timers.after(pauseMs, () => {
      this.#slowPause = undefined;
      if (this.#unread.length > 0 || this.#work) this.#parts.turns.take(this);
      this.#resume();
    });
    return false;
  }

  /** Lets the messages of a busy session gather before they are read. */
  #pauseReading(): void {
    if (this.#readPause || this.#isClosing) return;
    const { timers } = this.#parts;
    const pauseMs = this.#reads.add(1, timers.elapsedMs());
    if (pauseMs === 0) return;
    this.#socket.pause();
    this.#readPause = timers.after(Math.ceil(pauseMs), () => {
      this.#readPause = undefined;
      this.#resume();
    });
  }

  #finishClosed(): void {
    this.finish("closed", "the instance ended the connection");
  }

  /** Applies the unread messages. Yields after each piece of work, and "wait" while a thread reads a message. */
  *#applyUnread(): Generator<"wait" | undefined> {
    for (let content = this.#unread.shift(); content !== undefined; content = this.#unread.shift()) {
      const bytes = Buffer.byteLength(content) + messageOverhead;
      const text = typeof content === "string" ? content : undefined;
      let frame = text === undefined ? undefined : parseUntrusted(text);
      if (text === undefined || (frame === undefined && isBeyond(text, messageBounds))) {
        const answer = this.#readInThread(content);
        while (!answer.isRead) yield "wait";
        frame = answer.value;
      }
      yield* this.#applyFrame(frame);
      this.#unreadBytes -= bytes;
      if (this.#unread.length === 0) this.#mayAlarm = false;
      if (!this.#isPaused || this.#unreadBytes > unreadLimit) continue;
      this.#isPaused = false;
      this.#resume();
    }
  }

  #readInThread(content: string | Buffer): { isRead: boolean; value?: unknown } {
    const answer: { isRead: boolean; value?: unknown } = { isRead: false };
    this.#receivingMs += content.length * threadCostPerByteMs;
    void this.#parts.readLarge(this.#source, content, this.#frameProjection()).then((value) => {
      answer.value = value;
      answer.isRead = true;
      if (!this.#end && !this.#slowPause) this.#parts.turns.take(this);
    });
    return answer;
  }

  /** What this session reads of a message: the answers and events that it waits for. */
  #frameProjection(): Projection {
    const cases: Record<string, Projection> = {};
    for (const [id, { projection }] of this.#pending) cases[id] = { pick: { ...messageMembers, result: projection } };
    for (const [id, { projection }] of this.#subscriptions) {
      cases[id] = { pick: { ...messageMembers, event: projection } };
    }
    const single: Projection = { by: "id", cases, otherwise: { pick: messageMembers } };
    return { list: { each: single, limit: messagesPerFrame }, single };
  }

  /** A frame holds one message, or a list of them (`coalesce_messages`). */
  *#applyFrame(frame: unknown): Generator<undefined> {
    const messages = Array.isArray(frame) ? frame : [frame];
    for (const message of messages) {
      if (this.#end) return;
      if (isJsonObject(message) && typeof message.id === "number") {
        const work = this.#dispatch(message, message.id);
        if (work) yield* work;
        yield;
      } else this.finish("malformed", "a message was not a JSON object with an id, or had too many values");
    }
  }

  #dispatch(message: JsonObject, id: number): Generator<undefined> | undefined {
    if (message.type === "event") {
      const subscription = this.#subscriptions.get(id);
      if (!subscription) return;
      this.#large.settle(id);
      return subscription.take(message.event);
    }
    // A message of another type is no answer: the call still waits for its own.
    if (message.type !== "result" && message.type !== "pong") return;
    const settle = this.#pending.get(id)?.settle;
    const hasFailed = message.type === "result" && message.success !== true;
    if (hasFailed && !settle) this.#subscriptions.get(id)?.failed();
    this.#pending.delete(id);
    if (hasFailed) this.#subscriptions.delete(id);
    // The large part of a subscription is its first event, not its answer.
    if (!this.#subscriptions.has(id)) this.#large.settle(id);
    if (hasFailed) {
      const error = isJsonObject(message.error) ? message.error : {};
      settle?.({ state: "failed", code: textOf(error.code) ?? "", message: textOf(error.message) ?? "" });
    } else {
      settle?.({ state: "succeeded", result: message.result, id });
    }
  }
}

/** What is read of the result of a call: that of a service call has a context. */
const smallResult: Projection = { pick: { context: { pick: { id: true } } } };

const messageMembers = { id: true, type: true, success: true, error: { pick: { code: true, message: true } } } as const;
