import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { crc32 } from "node:zlib";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { Home } from "../../home/home.ts";
import { limits, type OnLimitReached } from "../../model/limits.ts";
import type { Projection } from "../../runtime/json/projection.ts";
import { isForThread, isJsonObject, parseUntrusted } from "../../runtime/json/untrusted-json.ts";
import { LeakyBucket } from "../../runtime/leaky-bucket.ts";
import type { StreamEnd, StreamEndReason, StreamListener } from "../connector.ts";
import { IngestShare, threadCostPerByteMs } from "../kit/ingest-share.ts";
import type { IngestStream, IngestTurns } from "../kit/ingest-turns.ts";
import { accountProjection, readSnapshot } from "./snapshot.ts";

/**
 * A document with a part of the words "emergency" or "warning" may report an alarm. These parts are short and begin with
 * rare letters: a search for the whole words, each with a quotation mark in front, took several times as long.
 */
const alarmWords = ['gency"', "warnin"];
/** A blank line ends an event. */
const blankLine = /^[\r\n]{2}$/;
/** With more text than this waiting to be parsed, the stream applies back-pressure. */
const unreadLimit = 64 * 1024;
/** What is read of a put that is too large for the event loop. */
const putProjection: Projection = { pick: { path: true, data: accountProjection } };

/**
 * The checksum of a put, and its digest if the put before had the same checksum. Nearly every put differs from the one
 * before. The checksum shows that; a digest takes several times as long. So only the second repetition of a put is
 * recognised. Nobody gains by two puts with the same digest: the ecosystem decides what a put says.
 */
interface PutMark {
  readonly checksum: number;
  readonly digest: string | undefined;
}

export interface StreamParts {
  readonly watchdogMs: number;
  /** Until then the stream must have sent the account with which each one begins. */
  readonly firstAccountMs: number;
  readonly turns: IngestTurns;
  /** Reads a large put in a thread. */
  readonly readLarge: (text: string, projection: Projection, signal: AbortSignal) => Promise<unknown>;
  readonly onLimitReached: OnLimitReached;
}

/**
 * One open stream of an account, from its first byte to its end. Any event that can't be processed ends the stream:
 * there are no sequence numbers to resume from, and the next connection begins with a fresh snapshot.
 */
export class NestStream implements IngestStream {
  readonly #response: IncomingMessage;
  readonly #listener: StreamListener;
  readonly #watchdogMs: number;
  readonly #firstAccountMs: number;
  readonly #parser = createParser({
    // Without this limit one endless event would fill the memory.
    maxBufferSize: limits.streamMessageBytes,
    onEvent: (event) => this.#take(event),
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") this.#finish("malformed", "an event was too large");
    },
  });
  readonly #turns: IngestTurns;
  readonly #readLarge: StreamParts["readLarge"];
  /** Events behind a put that a thread reads, in order; undefined when there is none. */
  #later: EventSourceMessage[] | undefined;
  /** Why the stream ends when all text is applied. */
  #endsLater: string | undefined;
  readonly #ending = new AbortController();
  readonly #rate = new LeakyBucket({ perSecond: limits.streamBytesPerSecond, atOnce: limits.streamBytesAtOnce });
  readonly #share: IngestShare;
  /** CPU time of the thread that is not paid for. */
  #threadMs = 0;
  readonly #onLimitReached: OnLimitReached;
  /** Text that was received and is not parsed yet. */
  readonly #unread: string[] = [];
  #unreadLength = 0;
  #isPaused = false;
  #throttle: NodeJS.Timeout | undefined;
  /** The pause of a stream that has used more than its share of CPU. */
  #slowPause: NodeJS.Timeout | undefined;
  /** Whether the last account has an alarm: its end is as urgent as its beginning. */
  #hasAlarm = false;
  /** Whether the text so far ends inside an event, which may report an alarm. */
  #isInsideEvent = false;
  /**
   * Recognises a put that changes nothing. The put itself would take far more memory. Undefined after an incomplete
   * account: the same text again may announce a change of the object that it leaves out.
   */
  #lastPut: PutMark | undefined;
  #watchdog: NodeJS.Timeout | undefined;
  /** Ends a stream that is kept alive and never sends the account: nothing else would notice it. */
  #firstAccount: NodeJS.Timeout | undefined;
  /** When the last byte was received, on a monotonic clock. */
  #receivedMs = 0;
  #end: StreamEnd | undefined;
  #resolveEnd: (end: StreamEnd) => void = () => {};

  constructor(response: IncomingMessage, listener: StreamListener, parts: StreamParts) {
    const { watchdogMs, firstAccountMs, turns, readLarge, onLimitReached } = parts;
    this.#response = response;
    this.#listener = listener;
    this.#watchdogMs = watchdogMs;
    this.#firstAccountMs = firstAccountMs;
    this.#turns = turns;
    this.#readLarge = readLarge;
    this.#onLimitReached = onLimitReached;
    this.#share = new IngestShare({ listener, elapsedMs: () => performance.now(), onLimitReached });
  }

  /** Resolves when the stream has ended on either side and its socket is closed. Never rejects. */
  async run(signal: AbortSignal): Promise<StreamEnd> {
    const stop = () => this.#finish("stopped", "stopped by us");
    signal.addEventListener("abort", stop, { once: true });
    const end = await this.#follow(signal.aborted);
    signal.removeEventListener("abort", stop);
    clearTimeout(this.#watchdog);
    clearTimeout(this.#firstAccount);
    clearTimeout(this.#throttle);
    clearTimeout(this.#slowPause);
    return end;
  }

  #follow(isStopped: boolean): Promise<StreamEnd> {
    return new Promise((resolve) => {
      this.#resolveEnd = resolve;
      const response = this.#response;
      if (isStopped) return this.#finish("stopped", "stopped by us");
      if (!isEventStream(response)) return this.#finish("malformed", "the answer is not an event stream");
      if (response.closed) return this.#finish("closed", "the connection broke off");
      // Watchdog: Node notices a dead connection only after minutes; the ecosystem sends something every 30 s.
      this.#watchdog = setTimeout(() => this.#finishUnheard(), this.#watchdogMs);
      this.#receivedMs = performance.now();
      this.#firstAccount = setTimeout(() => this.#finishWithoutAccount(), this.#firstAccountMs);
      response.once("end", () => this.#finishRead("the ecosystem ended the stream"));
      response.once("close", () => this.#finishRead("the connection broke off"));
      response.setEncoding("utf8").on("data", (chunk: string) => this.#receive(chunk));
    });
  }

  #receive(chunk: string): void {
    if (this.#end) return;
    this.#watchdog?.refresh();
    this.#receivedMs = performance.now();
    this.#limitRate(Buffer.byteLength(chunk));
    this.#unread.push(chunk);
    this.#unreadLength += chunk.length;
    if (!this.#slowPause) this.#turns.take(this);
    if (this.#unreadLength <= unreadLimit || this.#isPaused) return;
    this.#isPaused = true;
    this.#response.pause();
  }

  #limitRate(bytes: number): void {
    const throttleMs = this.#rate.add(bytes, this.#receivedMs);
    if (throttleMs === 0 || this.#throttle) return;
    this.#onLimitReached("streamBytesPerSecond");
    this.#response.pause();
    this.#throttle = setTimeout(() => {
      this.#throttle = undefined;
      this.#resume();
    }, throttleMs);
  }

  isUrgent(): boolean {
    // A stream beyond its share must not overtake others. Its own alarms wait in at most `unreadLimit` of text.
    if (this.#share.isSlowed) return false;
    const last = this.#unread.at(-1) ?? "";
    return this.#hasAlarm || this.#isInsideEvent || alarmWords.some((word) => last.includes(word));
  }

  step(): boolean {
    if (this.#end || this.#later) return false;
    const chunk = this.#unread.shift();
    if (chunk === undefined) {
      if (this.#endsLater !== undefined) this.#finish("closed", this.#endsLater);
      return false;
    }
    try {
      this.#parser.feed(chunk);
    } catch (error) {
      // A defect of Breezeway must not end the streams of other accounts.
      this.#fail(error);
    }
    this.#unreadLength -= chunk.length;
    this.#isInsideEvent = !blankLine.test(chunk.slice(-2));
    if (this.#isPaused && this.#unreadLength <= unreadLimit) {
      this.#isPaused = false;
      this.#resume();
    }
    return true;
  }

  /** Each put is reported by itself: nothing is left for the end of a turn. */
  endTurn(): void {}

  spent(ms: number): boolean {
    if (this.#end) return false;
    const pauseMs = this.#share.spend(ms + this.#threadMs);
    this.#threadMs = 0;
    if (pauseMs === 0 || this.#endsLater !== undefined) return true;
    this.#response.pause();
    this.#slowPause = setTimeout(() => {
      this.#slowPause = undefined;
      this.#turns.take(this);
      this.#resume();
    }, pauseMs);
    return false;
  }

  #resume(): void {
    if (this.#end || this.#isPaused || this.#throttle || this.#slowPause) return;
    this.#response.resume();
  }

  #fail(error: unknown): void {
    const name = error instanceof Error ? error.name : typeof error;
    this.#finish("malformed", `an event could not be taken (${name})`, { error });
  }

  #take(event: EventSourceMessage): void {
    const { event: name, data } = event;
    // One chunk may hold more events after the one that ended the stream.
    if (this.#end) return;
    if (this.#later) this.#later.push(event);
    else if (name === "put") this.#takePut(data);
    // Neither the token nor any other text of the ecosystem goes into the detail: it is logged and shown.
    else if (name === "auth_revoked") this.#finish("unauthorized", "the ecosystem revoked the token");
    else if (name === "cancel") this.#finish("closed", "the permissions changed");
    else if (name === "error") this.#finish("refused", "the ecosystem sent an error");
    else if (name === "patch") this.#finish("malformed", "a patch came, which this protocol doesn't have");
    // `open`, `keep-alive` and unknown events only feed the watchdog.
  }

  #takePut(data: string): void {
    clearTimeout(this.#firstAccount);
    const last = this.#lastPut;
    const checksum = crc32(data);
    const digest = checksum === last?.checksum ? hash("sha1", data, "base64") : undefined;
    if (digest !== undefined && digest === last?.digest) {
      this.#listener.unchanged();
      return;
    }
    const mark = { checksum, digest };
    const put = parseUntrusted(data);
    if (put === undefined && isForThread(data)) void this.#takeLargePut(data, mark);
    else this.#takeAccount(put, mark);
  }

  /** Later events wait for the answer of the thread: the newest account must be taken last. */
  async #takeLargePut(data: string, mark: PutMark): Promise<void> {
    const later: EventSourceMessage[] = [];
    this.#later = later;
    this.#threadMs += data.length * threadCostPerByteMs;
    try {
      const put = await this.#readLarge(data, putProjection, this.#ending.signal);
      this.#later = undefined;
      if (this.#end) return;
      this.#takeAccount(put, mark);
      // One of them may be large again: those behind it wait anew.
      for (const event of later) this.#take(event);
    } catch (error) {
      this.#fail(error);
    }
    if (!this.#later && !this.#end && !this.#slowPause) this.#turns.take(this);
  }

  #takeAccount(put: unknown, mark: PutMark): void {
    if (!isJsonObject(put) || typeof put.path !== "string") {
      this.#finish("malformed", "a put was not JSON for the whole account, or was too large");
    } else if (put.path !== "/") {
      // The protocol sends the whole account each time. A part may hold news, but it doesn't show what is gone.
      this.#lastPut = undefined;
      this.#listener.partial();
    } else {
      const home = readSnapshot(put.data);
      this.#lastPut = home.oddities.incomplete > 0 ? undefined : mark;
      this.#hasAlarm = reportsAlarm(home);
      this.#listener.home(home);
    }
  }

  /** The ecosystem ended the stream: text that was received before is still parsed. */
  #finishRead(detail: string): void {
    this.#endsLater ??= detail;
    clearTimeout(this.#slowPause);
    this.#slowPause = undefined;
    this.#turns.take(this);
  }

  /** Reports the measured silence, not the configured one: the watchdog is late if the process was suspended. */
  #finishUnheard(): void {
    const unheardMs = Math.ceil(performance.now() - this.#receivedMs);
    this.#finish("silent", "nothing was heard for too long", { unheardMs });
  }

  /** On a busy node the account may have arrived, or be arriving: only a stream of keep-alives alone ends. */
  #finishWithoutAccount(): void {
    if (this.#unreadLength > 0 || this.#later || this.#isInsideEvent || this.#throttle) this.#firstAccount?.refresh();
    else this.#finish("silent", "the stream did not begin with the account");
  }

  #finish(reason: StreamEndReason, detail: string, more: Pick<StreamEnd, "unheardMs" | "error"> = {}): void {
    if (this.#end) return;
    this.#end = { reason, detail, ...more };
    this.#turns.forget(this);
    this.#ending.abort();
    this.#response.destroy();
    this.#resolveEnd(this.#end);
  }
}

function reportsAlarm({ alarms }: Home): boolean {
  for (const sighting of alarms.byId.values()) {
    if (!sighting.isRead) continue;
    const { smoke, carbonMonoxide } = sighting.object.traits;
    const states = [smoke?.state.state ?? "clear", carbonMonoxide?.state.state ?? "clear"];
    if (states.some((state) => state !== "clear")) return true;
  }
  return false;
}

function isEventStream(response: IncomingMessage): boolean {
  return /^text\/event-stream\s*(;|$)/i.test(response.headers["content-type"] ?? "");
}
