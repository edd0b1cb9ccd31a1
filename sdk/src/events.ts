import type { Cause, Command } from "./devices.ts";
import { ServiceError, UnexpectedAnswer, Unreachable } from "./errors.ts";
import { type ServerSentMessage, type ServerSentMessages, ServerSentReader } from "./sse.ts";
import { Silence, type StreamState, StreamStates } from "./stream-state.ts";
import type { CallOptions } from "./transport.ts";
import type { V3 } from "./v3.ts";
import { backoffMs, pause } from "./waiting.ts";

interface EventBase<Type extends string> {
  readonly type: Type;
  /** Opaque; hand it in as `lastEventId` to go on behind this event, in another process too. */
  readonly id: string;
}

/** An attribute changed, or a client or an alert wrote it. */
export interface AttributeEvent extends EventBase<"attribute"> {
  readonly deviceId: number;
  readonly name: string;
  /** Null: it turned blank. */
  readonly value: string | number | null;
  readonly updateTime: number;
  readonly cause: Cause;
}

/** A link stands otherwise than before. */
export interface LinkEvent extends EventBase<"link"> {
  readonly deviceId: number;
  readonly ecosystem: string;
  readonly state: "live" | "waiting" | "needs_reauth";
  readonly reason: string | null;
  readonly time: number;
}

/** A fan request got on. */
export interface CommandEvent extends EventBase<"command"> {
  readonly deviceId: number;
  readonly commandId: number;
  readonly name: string;
  readonly value: string;
  readonly state: Command["state"];
  readonly text: string | null;
  readonly requestedTime: number;
  readonly time: number;
}

/** An alert fired. */
export interface AlertEvent extends EventBase<"alert"> {
  readonly deviceId: number;
  readonly time: number;
  readonly [detail: string]: unknown;
}

/** A device came or went. */
export interface DeviceEvent extends EventBase<"device"> {
  readonly deviceId: number;
  readonly what: "added" | "removed";
  readonly time: number;
}

/** Not all that happened before this event was told: read the devices anew, then go on. */
export interface ResyncEvent extends EventBase<"resync"> {
  readonly reason: "past_retention" | "unknown_id" | "too_slow" | "restored";
}

/** The stream is alive, and all before this id was told. Only with `heartbeats`. */
export interface HeartbeatEvent extends EventBase<"heartbeat"> {
  readonly time: number;
  /** The interval of this stream's heartbeats, if the service grants the one that was asked for. */
  readonly everySeconds?: number;
}

/** Something that happened to the devices that the token reaches. */
export type HomeEvent =
  | AttributeEvent
  | LinkEvent
  | CommandEvent
  | AlertEvent
  | DeviceEvent
  | ResyncEvent
  | HeartbeatEvent;

/** What to follow, and how. */
export interface EventOptions extends CallOptions {
  /** Only these devices. */
  readonly deviceIds?: readonly number[] | undefined;
  /** Of attribute events only these, in any published spelling; the events use yours. */
  readonly attributes?: readonly string[] | undefined;
  /** Goes on behind this event. Without it the stream begins now. */
  readonly lastEventId?: string | undefined;
  /** Whether heartbeats are events too; the first says from where on everything is told. */
  readonly heartbeats?: boolean | undefined;
  /** Called whenever a connection stands, at first and each time after it was lost: from then on all is told. */
  readonly onConnected?: (() => void) | undefined;
  /** Called when a connection is lost or can't be made, with the reason; another is tried by itself. */
  readonly onDisconnected?: ((reason: unknown) => void) | undefined;
  /**
   * Called at the beginning, with `stale`, and each time that the stream becomes live or stale. While it is stale, show
   * what you know as of `asOf`. A dead stream, a 401 and a 503 are told within 5 seconds.
   */
  readonly onState?: ((state: StreamState) => void) | undefined;
  /** The interval of heartbeats, 2 to 15 seconds; 2 unless given. Two missing heartbeats make the stream stale. */
  readonly heartbeatSeconds?: number | undefined;
  /**
   * A connection silent for so long is given up: two heartbeats unless given, and 20 seconds with a service that does
   * not grant the interval.
   */
  readonly silenceMs?: number | undefined;
}

const known: readonly string[] = ["attribute", "link", "command", "alert", "device", "resync", "heartbeat"];

/**
 * Follows events over any number of connections. Ends quietly when the signal is aborted; throws when the service
 * refuses for good, above all `NotSignedIn` once the access has ended.
 * @internal
 */
export async function* followEvents(v3: V3, options: EventOptions): AsyncGenerator<HomeEvent, void> {
  const { signal } = options;
  let { lastEventId } = options;
  const states = new StreamStates(options.onState);
  const isDue = heartbeatsFor(options);
  let retryMs = 1_000;
  let failures = 0;
  while (!signal?.aborted) {
    let reason: unknown;
    try {
      for await (const read of connection(v3, options, lastEventId)) {
        failures = 0;
        retryMs = read.retryMs ?? retryMs;
        if (read.messages.length > 0) states.heard();
        for (const message of read.messages) {
          // Also in the midst of what has come already.
          if (signal?.aborted) return;
          const event = readEvent(message);
          lastEventId = message.id ?? lastEventId;
          if (event && (event.type !== "heartbeat" || isDue())) yield event;
        }
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!isPassing(error)) {
        states.ended(error);
        throw error;
      }
      reason = error;
    }
    if (signal?.aborted) return;
    states.lost(reason);
    options.onDisconnected?.(reason);
    // A stream that ended as it should is taken up at once: the service went, or the token's time was up.
    const waitMs = reason === undefined && failures === 0 ? retryMs / 2 : backoffMs(failures, retryMs);
    failures += 1;
    const toldMs = reason instanceof ServiceError ? (reason.retryAfterSeconds ?? 0) * 1_000 : 0;
    await pause(Math.max(waitMs, toldMs), signal).catch(() => undefined);
  }
}

/**
 * Whether the application gets a heartbeat as an event. Without an interval of its own it gets one every 15 seconds,
 * as the service sends them by default, though the SDK itself hears them more often.
 */
function heartbeatsFor({ heartbeats = false, heartbeatSeconds }: EventOptions): () => boolean {
  let lastMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = performance.now();
    if (!heartbeats || (heartbeatSeconds === undefined && nowMs - lastMs < 14_000)) return false;
    lastMs = nowMs;
    return true;
  };
}

/** What comes over one connection, until it ends. */
async function* connection(
  v3: V3,
  { deviceIds: deviceId, attributes: attribute, silenceMs, heartbeatSeconds = 2, onConnected, signal }: EventOptions,
  lastEventId: string | undefined,
): AsyncGenerator<ServerSentMessages, void> {
  const stop = new AbortController();
  const abort = () => stop.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (lastEventId !== undefined) headers["last-event-id"] = lastEventId;
    const response = await v3.open(
      "/events",
      { query: { deviceId, attribute, heartbeatSeconds }, headers, signal },
      stop,
    );
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (!response.body || !isStream) throw new UnexpectedAnswer("The answer is no stream of events.", response.status);
    onConnected?.();
    const bytes = response.body.getReader();
    const decoder = new TextDecoder();
    const reader = new ServerSentReader();
    const silence = new Silence(silenceMs);
    for (;;) {
      const piece = await withinSilence(() => bytes.read(), silence, stop);
      if (piece.done) return;
      const read = reader.read(decoder.decode(piece.value, { stream: true }));
      for (const { event, data } of read.messages) silence.heard(event, data);
      yield read;
    }
  } finally {
    signal?.removeEventListener("abort", abort);
    stop.abort();
  }
}

/** A connection that says nothing, not even that it is alive, is dead: nobody else would notice. */
async function withinSilence<Value>(
  read: () => Promise<Value>,
  silence: Silence,
  stop: AbortController,
): Promise<Value> {
  let isSilent = false;
  const begunMs = performance.now();
  const timer = setTimeout(() => {
    isSilent = true;
    stop.abort();
  }, silence.leftMs);
  try {
    return await read();
  } catch (error) {
    if (isSilent) throw new Unreachable(`The stream was silent for ${silence.limitMs} ms.`);
    throw new Unreachable("The stream broke off.", { cause: error });
  } finally {
    clearTimeout(timer);
    silence.waited(performance.now() - begunMs);
  }
}

/** Kinds of events that this version doesn't know are passed over. */
function readEvent({ event, data, id = "" }: ServerSentMessage): HomeEvent | undefined {
  if (!known.includes(event)) return undefined;
  let fields: unknown;
  try {
    fields = JSON.parse(data);
  } catch {
    throw new UnexpectedAnswer(`An event of type ${event} isn't JSON.`);
  }
  return { ...(fields as object), type: event, id } as HomeEvent;
}

/** Whether it can be otherwise the next time. */
function isPassing(error: unknown): boolean {
  if (error instanceof Unreachable) return true;
  return error instanceof ServiceError && error.status !== undefined && (error.status >= 500 || error.status === 429);
}
