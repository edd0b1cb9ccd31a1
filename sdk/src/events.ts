import type { Cause, Command } from "./devices.ts";
import { ServiceError, UnexpectedAnswer, Unreachable } from "./errors.ts";
import type { LinkSession } from "./link-sessions.ts";
import { isTemporary } from "./refusals.ts";
import { type ServerSentMessage, type ServerSentMessages, ServerSentReader } from "./sse.ts";
import { Silence, type StreamState, StreamStates } from "./stream-state.ts";
import type { CommandReceipt } from "./thing-commands.ts";
import type { ThingField } from "./things.ts";
import type { CallOptions } from "./transport.ts";
import type { V3 } from "./v3.ts";
import { backoffMs, pause, timerMs } from "./waiting.ts";

interface EventBase<Type extends string> {
  readonly type: Type;
  /** Opaque. Pass it as `lastEventId` to resume after this event, also in another process. */
  readonly id: string;
}

/** An attribute changed, or a client or an alert wrote it. */
export interface AttributeEvent extends EventBase<"attribute"> {
  readonly deviceId: number;
  readonly name: string;
  /** Null: it became blank. */
  readonly value: string | number | null;
  readonly updateTime: number;
  readonly cause: Cause;
}

/** The state of a link changed. */
export interface LinkEvent extends EventBase<"link"> {
  readonly deviceId: number;
  readonly ecosystem: string;
  readonly state: "live" | "waiting" | "needs_reauth";
  readonly reason: string | null;
  readonly time: number;
}

/** The state of a fan request changed. */
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

/** A thing changed. Only with `things`. */
export interface ThingEvent extends EventBase<"thing"> {
  readonly deviceId: number;
  readonly thingId: string;
  /** `state`: fields changed. `changed`: also its name, its room or what it can do: read the thing again. */
  readonly what: "added" | "changed" | "state" | "gone";
  /** The changed fields as `trait.field`, such as `smoke.state`. */
  readonly fields: Readonly<Record<string, Pick<ThingField, "value">>>;
  readonly updateTime: number;
  /** Left out when the account was unlinked. */
  readonly cause?: Cause;
}

/** The state of a command to a thing changed. Only with `things`. */
export interface ThingCommandEvent extends EventBase<"thingCommand">, Omit<CommandReceipt, "sentTime" | "settledTime"> {
  readonly deviceId: number;
  /**
   * What the company must do with its own device: the attributes that the device should show, with their values. Only
   * while the state is `sending`. Write these attributes when the device shows them.
   */
  readonly writes?: Readonly<Record<string, string>>;
  readonly time: number;
}

/** A link session ended or expired. Only with `linkSessions`. */
export interface LinkSessionEvent extends EventBase<"linkSession"> {
  /** Null unless it is `linked`. */
  readonly deviceId: number | null;
  readonly linkSessionId: string;
  readonly ecosystem: string;
  readonly mode: LinkSession["mode"];
  readonly status: "linked" | "declined" | "failed" | "expired";
  readonly problem?: LinkSession["problem"];
  readonly time: number;
}

/** An alert fired. */
export interface AlertEvent extends EventBase<"alert"> {
  readonly deviceId: number;
  readonly time: number;
  readonly [detail: string]: unknown;
}

/** A device was added or removed. */
export interface DeviceEvent extends EventBase<"device"> {
  readonly deviceId: number;
  readonly what: "added" | "changed" | "removed";
  readonly time: number;
}

/** Earlier events were lost: read the devices again, then continue. */
export interface ResyncEvent extends EventBase<"resync"> {
  readonly reason: "past_retention" | "unknown_id" | "too_slow" | "restored";
}

/** The stream is alive, and all events before this id were delivered. Only with `heartbeats`. */
export interface HeartbeatEvent extends EventBase<"heartbeat"> {
  readonly time: number;
  /** More events wait: the stream delivers old ones, and has reached `time`. Left out when the stream is current. */
  readonly catchingUp?: true;
  /** The interval of this stream's heartbeats, if the service supports the requested one. */
  readonly everySeconds?: number;
}

/** An event of the devices to which the token has access. */
export type HomeEvent =
  | AttributeEvent
  | LinkEvent
  | LinkSessionEvent
  | CommandEvent
  | ThingEvent
  | ThingCommandEvent
  | AlertEvent
  | DeviceEvent
  | ResyncEvent
  | HeartbeatEvent;

/** Filters and callbacks of an event stream. */
export interface EventOptions extends CallOptions {
  /** Only these devices. */
  readonly deviceIds?: readonly number[] | undefined;
  /** Only attribute events of these names, in any published spelling; the events use your spelling. */
  readonly attributes?: readonly string[] | undefined;
  /** Whether changes of things and of commands to things are events too. */
  readonly things?: boolean | undefined;
  /** Only `thing` and `thingCommand` events of these things. Needs `things`. */
  readonly thingIds?: readonly string[] | undefined;
  /** Whether ends of link sessions are events too. Needs the scope `links`. */
  readonly linkSessions?: boolean | undefined;
  /** Resumes after this event. Without it the stream begins now. */
  readonly lastEventId?: string | undefined;
  /** Whether heartbeats are events too. All changes after the first heartbeat are delivered. */
  readonly heartbeats?: boolean | undefined;
  /** Called each time that a connection is established: all changes from then on are delivered. */
  readonly onConnected?: (() => void) | undefined;
  /** Called when a connection is lost or fails, with the reason. The SDK reconnects automatically. */
  readonly onDisconnected?: ((reason: unknown) => void) | undefined;
  /**
   * Called at the beginning with `stale`, and each time that the stream becomes live or stale. While it is stale, show
   * your values as of `asOf`. A stream that breaks or falls silent and an access that
   * has ended are reported within 5 seconds. Failed attempts to reconnect are not: `onDisconnected` gets each.
   */
  readonly onState?: ((state: StreamState) => void) | undefined;
  /** The interval of heartbeats, 2 to 15 seconds; 2 by default. Two missing heartbeats make the stream stale. */
  readonly heartbeatSeconds?: number | undefined;
  /**
   * A connection is closed after this silence. By default two heartbeats, or 20 seconds with a service that does not
   * support the interval.
   */
  readonly silenceMs?: number | undefined;
}

const knownTypes: readonly string[] = [
  ...["attribute", "link", "linkSession", "command", "thing", "thingCommand", "alert", "device", "resync", "heartbeat"],
];

/** A date in Retry-After is years ahead where this machine's clock is behind: the stream must come back all the same. */
const longestRetryAfterMs = 3_600_000;

/**
 * Follows events over any number of connections. Ends without an error when the signal is aborted; throws when the
 * service refuses permanently, mostly `NotSignedIn` when the access has ended.
 * @internal
 */
export async function* followEvents(v3: V3, options: EventOptions): AsyncGenerator<HomeEvent, void> {
  const { signal } = options;
  let { lastEventId } = options;
  const states = new StreamStates(options.onState);
  const isHeartbeatDue = heartbeatFilter(options);
  let retryMs = 1_000;
  let failures = 0;
  while (!signal?.aborted) {
    let reason: unknown;
    try {
      for await (const read of connection(v3, options, lastEventId)) {
        failures = 0;
        retryMs = read.retryMs ?? retryMs;
        if (read.messages.length > 0) states.received(read.messages);
        for (const message of read.messages) {
          // Events that were received before the abort are dropped.
          if (signal?.aborted) return;
          const event = readEvent(message);
          lastEventId = message.id ?? lastEventId;
          if (event && (event.type !== "heartbeat" || isHeartbeatDue(event))) yield event;
        }
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!isTemporary(error)) {
        states.ended(error);
        throw error;
      }
      reason = error;
    }
    if (signal?.aborted) return;
    states.lost(reason);
    options.onDisconnected?.(reason);
    // After a regular end (the service stops, or the token expires) the SDK reconnects at once.
    const waitMs = reason === undefined && failures === 0 ? retryMs / 2 : backoffMs(failures, retryMs);
    failures += 1;
    const retryAfterMs = reason instanceof ServiceError ? (reason.retryAfterSeconds ?? 0) * 1_000 : 0;
    await pause(Math.max(waitMs, Math.min(retryAfterMs, longestRetryAfterMs)), signal).catch(() => undefined);
  }
}

/**
 * Decides whether the application gets a heartbeat as an event. Without `heartbeatSeconds` it gets one every 15 seconds,
 * the service's default, although the SDK receives more, and one when the stream has caught up.
 */
function heartbeatFilter({ heartbeats = false, heartbeatSeconds }: EventOptions): (event: HeartbeatEvent) => boolean {
  let lastMs = Number.NEGATIVE_INFINITY;
  let wasCatchingUp = false;
  return ({ catchingUp = false }) => {
    const nowMs = performance.now();
    const isSoon = catchingUp === wasCatchingUp && nowMs - lastMs < 14_000;
    if (!heartbeats || (heartbeatSeconds === undefined && isSoon)) return false;
    lastMs = nowMs;
    wasCatchingUp = catchingUp;
    return true;
  };
}

/** The messages of one connection. */
async function* connection(
  v3: V3,
  options: EventOptions,
  lastEventId: string | undefined,
): AsyncGenerator<ServerSentMessages, void> {
  const { silenceMs, onConnected, signal } = options;
  const stop = new AbortController();
  const abort = () => stop.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (lastEventId !== undefined) headers["last-event-id"] = lastEventId;
    const response = await v3.open("/events", { query: queryOf(options), headers, signal }, stop);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (!response.body || !isStream) throw new UnexpectedAnswer("The answer is no stream of events.", response.status);
    onConnected?.();
    const bytes = response.body.getReader();
    const decoder = new TextDecoder();
    const reader = new ServerSentReader();
    const silence = new Silence(silenceMs);
    for (;;) {
      const chunk = await readWithTimeout(() => bytes.read(), silence, stop);
      if (chunk.done) return;
      const read = reader.read(decoder.decode(chunk.value, { stream: true }));
      for (const { event, data } of read.messages) silence.received(event, data);
      yield read;
    }
  } finally {
    signal?.removeEventListener("abort", abort);
    stop.abort();
  }
}

function queryOf({ deviceIds, attributes, things, thingIds, linkSessions, heartbeatSeconds = 2 }: EventOptions) {
  return {
    deviceId: deviceIds,
    attribute: attributes,
    // Older services don't know the parameter.
    things: things ? "true" : undefined,
    thingId: thingIds,
    linkSessions: linkSessions ? "true" : undefined,
    heartbeatSeconds,
  };
}

/** Closes a connection that is silent for too long: neither `fetch` nor TCP would notice that it is dead. */
async function readWithTimeout<Value>(
  read: () => Promise<Value>,
  silence: Silence,
  stop: AbortController,
): Promise<Value> {
  let isSilent = false;
  const startedMs = performance.now();
  const timer = setTimeout(() => {
    isSilent = true;
    stop.abort();
  }, timerMs(silence.leftMs));
  try {
    return await read();
  } catch (error) {
    if (isSilent) throw new Unreachable(`The stream was silent for ${silence.limitMs} ms.`);
    throw new Unreachable("The stream broke off.", { cause: error });
  } finally {
    clearTimeout(timer);
    silence.waited(performance.now() - startedMs);
  }
}

/** Events of types that this version does not know are ignored. */
function readEvent({ event, data, id = "" }: ServerSentMessage): HomeEvent | undefined {
  if (!knownTypes.includes(event)) return undefined;
  let fields: unknown;
  try {
    fields = JSON.parse(data);
  } catch {
    throw new UnexpectedAnswer(`An event of type ${event} isn't JSON.`);
  }
  return { ...(fields as object), type: event, id } as HomeEvent;
}
