import type { IncomingMessage } from "node:http";
import type { ReachLimit } from "../../model/limits.ts";
import type { StreamEnd, StreamEndReason, StreamListener } from "../connector.ts";
import { EventSplitter, type StreamEvent } from "./event-splitter.ts";
import type { HeldBody } from "./held-body.ts";
import type { IngestTurns } from "./ingest-turns.ts";
import { largestMessageBytes } from "./parse-json.ts";
import { ReadingPace } from "./reading-pace.ts";
import type { Answer } from "./request.ts";
import { SnapshotReader } from "./snapshot-reader.ts";

/** A document with one of these may tell of an alarm. */
const alarmWords: readonly Buffer[] = [Buffer.from('"emergency"'), Buffer.from('"warning"')];
/** What comes beyond that stays with the other side until there is time for it. */
const mostUnreadBytes = 256 * 1024;

export interface StreamParts {
  readonly watchdogMs: number;
  readonly turns: IngestTurns;
  readonly reached: ReachLimit;
}

/**
 * One open stream of an account, from its first byte to its end. What it can't follow ends it: there are no sequence
 * numbers to resume from, and the fresh snapshot that opens the next connection heals everything.
 */
export class NestStream {
  readonly #response: IncomingMessage;
  readonly #body: HeldBody;
  readonly #listener: StreamListener;
  readonly #watchdogMs: number;
  readonly #splitter = new EventSplitter(largestMessageBytes);
  readonly #reader = new SnapshotReader();
  readonly #turns: IngestTurns;
  readonly #pace = new ReadingPace();
  readonly #reached: ReachLimit;
  /** What has come and was not read yet. */
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #isPaused = false;
  #rest: NodeJS.Timeout | undefined;
  /** Whether the last chunk may have told of an alarm. */
  #isAlarming = false;
  #watchdog: NodeJS.Timeout | undefined;
  /** When the last byte came, on a clock that doesn't jump. */
  #heardMs = 0;
  #end: StreamEnd | undefined;
  #tellEnd: (end: StreamEnd) => void = () => {};

  constructor({ response, body }: Answer, listener: StreamListener, { watchdogMs, turns, reached }: StreamParts) {
    this.#response = response;
    this.#body = body;
    this.#listener = listener;
    this.#watchdogMs = watchdogMs;
    this.#turns = turns;
    this.#reached = reached;
  }

  /** Resolves when the stream has ended, whoever ended it; its socket is gone by then. Never rejects. */
  async run(signal: AbortSignal): Promise<StreamEnd> {
    const stop = () => this.#finish("stopped", "stopped by us");
    signal.addEventListener("abort", stop, { once: true });
    const end = await this.#follow(signal.aborted);
    signal.removeEventListener("abort", stop);
    clearTimeout(this.#watchdog);
    clearTimeout(this.#rest);
    return end;
  }

  #follow(isStopped: boolean): Promise<StreamEnd> {
    return new Promise((resolve) => {
      this.#tellEnd = resolve;
      const response = this.#response;
      if (isStopped) return this.#finish("stopped", "stopped by us");
      if (!isEventStream(response)) return this.#finish("malformed", "the answer is not an event stream");
      if (response.closed) return this.#finish("closed", "the connection broke off");
      // Node notices a silent stream only after minutes; the ecosystem sends something every 30 s.
      this.#watchdog = setTimeout(() => this.#finishUnheard(), this.#watchdogMs);
      this.#heardMs = performance.now();
      const ended = () => this.#finishRead("the ecosystem ended the stream");
      response.once("end", ended);
      response.once("close", () => this.#finishRead("the connection broke off"));
      this.#body.listen({ piece: (chunk) => this.#hear(chunk), ended });
    });
  }

  #hear(chunk: Buffer): void {
    if (this.#end) return;
    this.#watchdog?.refresh();
    this.#heardMs = performance.now();
    this.#keepPace(chunk.length);
    if (this.#unreadBytes === 0 && this.#reader.isQuick) {
      // To look for alarms in it would take longer than to read it.
      this.#isAlarming = true;
      this.#readChunk(chunk);
      return;
    }
    this.#unread.push(Buffer.from(chunk));
    this.#unreadBytes += chunk.length;
    // The end of an alarm is as urgent as its beginning, so what follows upon one is read at once too.
    const wasAlarming = this.#isAlarming;
    this.#isAlarming = alarmWords.some((word) => chunk.includes(word));
    this.#turns.take(this.#read, wasAlarming || this.#isAlarming);
    if (this.#unreadBytes <= mostUnreadBytes || this.#isPaused) return;
    this.#isPaused = true;
    this.#body.pause();
  }

  #keepPace(bytes: number): void {
    const restMs = this.#pace.read(bytes, this.#heardMs);
    if (restMs === 0 || this.#rest) return;
    this.#reached("streamBytesPerSecond");
    this.#body.pause();
    this.#rest = setTimeout(() => {
      this.#rest = undefined;
      this.#resume();
    }, restMs);
  }

  readonly #read = (): void => {
    const chunks = this.#unread;
    this.#unread = [];
    this.#unreadBytes = 0;
    for (const chunk of chunks) if (!this.#end) this.#readChunk(chunk);
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#resume();
  };

  #resume(): void {
    if (this.#end || this.#isPaused || this.#rest) return;
    // Called in the turn of all streams: an error here must not keep the others from being read.
    try {
      this.#body.resume();
    } catch (error) {
      this.#fail(error);
    }
  }

  #readChunk(chunk: Buffer): void {
    try {
      for (const event of this.#splitter.split(chunk)) {
        if (this.#end) return;
        this.#take(event);
      }
      if (this.#splitter.isOverfull) this.#finish("malformed", "an event was too large");
    } catch (error) {
      // Nothing of ours should throw here; if it does, it must not take the other accounts' streams along.
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    const name = error instanceof Error ? error.name : typeof error;
    this.#finish("malformed", `an event could not be taken (${name})`, { error });
  }

  #take({ name, data }: StreamEvent): void {
    if (name === "put") this.#takePut(data);
    // Neither the token nor any other text of the ecosystem goes into the detail: it is logged and shown.
    else if (name === "auth_revoked") this.#finish("unauthorized", "the ecosystem revoked the token");
    else if (name === "cancel") this.#finish("closed", "the permissions changed");
    else if (name === "error") this.#finish("refused", "the ecosystem sent an error");
    else if (name === "patch") this.#finish("malformed", "a patch came, which this protocol doesn't have");
    // `open` and `keep-alive` only feed the watchdog, and so does an event that we don't know.
  }

  #takePut(data: Buffer): void {
    if (this.#reader.isSame(data)) {
      this.#listener.unchanged();
      return;
    }
    const account = this.#reader.read(data);
    // The protocol sends the whole account each time. A part may hold news, and doesn't say of what else there is none.
    if (account === "partial") this.#listener.partial();
    else if (account) this.#listener.account(account);
    else this.#finish("malformed", "a put was not JSON for the whole account");
  }

  /** The other side has ended it: what it said before still counts. */
  #finishRead(detail: string): void {
    this.#read();
    this.#finish("closed", detail);
  }

  /** The watchdog of a process that stood still is late: it is what was measured that is told, not what was meant. */
  #finishUnheard(): void {
    const unheardMs = Math.ceil(performance.now() - this.#heardMs);
    this.#finish("silent", "nothing was heard for too long", { unheardMs });
  }

  #finish(reason: StreamEndReason, detail: string, more: Pick<StreamEnd, "unheardMs" | "error"> = {}): void {
    if (this.#end) return;
    this.#end = { reason, detail, ...more };
    this.#turns.forget(this.#read);
    this.#response.destroy();
    this.#tellEnd(this.#end);
  }
}

function isEventStream(response: IncomingMessage): boolean {
  return /^text\/event-stream\s*(;|$)/i.test(response.headers["content-type"] ?? "");
}
