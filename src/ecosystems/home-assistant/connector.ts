import type { Home } from "../../home/home.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../../model/errors.ts";
import type { OnLimitReached } from "../../model/limits.ts";
import { type ReadLargeJson, readJsonHere } from "../../runtime/json/json-thread.ts";
import { isJsonObject } from "../../runtime/json/untrusted-json.ts";
import { dnsLookup } from "../../runtime/network/dns-lookup.ts";
import type { Resolve } from "../../runtime/network/public-address.ts";
import { type Timers, within } from "../../runtime/runtime.ts";
import type { Action, CommandOutcome, Connector, StreamEnd, StreamListener } from "../connector.ts";
import { untilAborted } from "../kit/abort.ts";
import { pauseMs } from "../kit/back-off.ts";
import { IngestTurns } from "../kit/ingest-turns.ts";
import { UnfinishedMessages } from "../kit/unfinished-messages.ts";
import { accessIn, accessText, credentialFrom } from "./address.ts";
import { CommandHomes } from "./command-homes.ts";
import { instanceConsent } from "./consent.ts";
import { type PostForm, postForm } from "./form-post.ts";
import { LiveHome } from "./live-home.ts";
import { isMissing } from "./missing-entity.ts";
import { RefusedAccesses } from "./refused-accesses.ts";
import { renewCredential, revokeCredential } from "./renewal.ts";
import { isSameInstance } from "./same-instance.ts";
import { serviceCallFor } from "./service-call.ts";
import { type Answer, Session, type SessionParts } from "./session.ts";
import { openSocket } from "./socket.ts";

export interface HomeAssistantOptions {
  /** The configured name. */
  readonly name: string;
  readonly allowPrivateNetworks: boolean;
  /** A session that is silent for this time is dead; 70 s, more than two pings. */
  readonly watchdogMs?: number;
  /** How often a session pings; 30 s. */
  readonly pingMs?: number;
  /** Time limit for a read, for a command, and for the first home of a stream; 30 s. */
  readonly answerLimitMs?: number;
  /** How often a followed instance is searched for entities that no registry announces; 10 minutes. */
  readonly searchMs?: number;
  readonly resolve?: Resolve;
  /** The store's clock, by which credentials expire. */
  readonly nowMs?: () => number;
  readonly onLimitReached?: OnLimitReached;
  /** Timers and connections; those of the process. */
  readonly timers?: Timers;
  readonly turns?: SessionParts["turns"];
  /** Reads large messages; in the event loop when left out. */
  readonly readJson?: ReadLargeJson;
  /** Bounds unfinished messages; those of this connector when left out. */
  readonly unfinished?: UnfinishedMessages;
  readonly openSocket?: SessionParts["openSocket"];
  readonly post?: PostForm;
}

const processTimers: Timers = {
  elapsedMs: () => performance.now(),
  after(delayMs, act) {
    const timer = setTimeout(act, delayMs);
    return () => clearTimeout(timer);
  },
};

/** How long a read waits for the stream's session. A session without an answer is dead: the watchdog ends it. */
const catchUpLimitMs = 5_000;

/** How long an accepted command waits for the answer whether its entity is missing. */
const missingLimitMs = 2_000;

const noAnswer: Answer = { state: "lost", detail: "no answer in time" };
const stopped: StreamEnd = { reason: "stopped", detail: "stopped by us" };

/** Home Assistant: each account is an instance with an address of its own, and one WebSocket. */
export function homeAssistantConnector(options: HomeAssistantOptions): Connector {
  const { allowPrivateNetworks, watchdogMs = 70_000, pingMs = 30_000, answerLimitMs = 30_000 } = options;
  const { searchMs = 600_000 } = options;
  const { onLimitReached = () => undefined, resolve = dnsLookup({ resolvesLocalNames: allowPrivateNetworks }) } =
    options;
  const { nowMs = Date.now, timers = processTimers, turns = new IngestTurns() } = options;
  const { unfinished = new UnfinishedMessages(onLimitReached) } = options;
  const rules = { resolve, allowsPrivate: allowPrivateNetworks };
  const { post = (form, signal) => postForm(form, rules, signal) } = options;
  const open: SessionParts["openSocket"] = (url, signal) => openSocket(url, rules, signal, { unfinished });
  const parts: SessionParts = {
    openSocket: options.openSocket ?? open,
    timers,
    turns,
    readLarge: options.readJson ?? readJsonHere,
    onLimitReached,
    watchdogMs,
    pingMs,
  };
  const name = options.name.toLowerCase();
  /** The homes that this node follows, by their consent. Commands use their sessions. */
  const live = new Map<string, LiveHome>();

  const commandHomes = new CommandHomes((access, signal) =>
    within(timers, answerLimitMs, signal, (inTime) => openHome(access, inTime)),
  );

  const refused = new RefusedAccesses();

  async function openSession(access: string, signal: AbortSignal): Promise<Session | { readonly end: StreamEnd }> {
    const tokens = accessIn(access);
    if (!tokens) return { end: { reason: "unauthorized", detail: "the link has no address of an instance" } };
    // An instance counts wrong tokens. An expired one is renewed first.
    if (tokens.expiresMs !== undefined && tokens.expiresMs <= nowMs()) {
      return { end: { reason: "unauthorized", detail: "the token has expired" } };
    }
    if (refused.has(access))
      return { end: { reason: "unauthorized", detail: "the instance refused the token before" } };
    const opened = await Session.open(tokens, parts, signal);
    if ("end" in opened && opened.end.reason === "unauthorized") refused.add(access);
    return opened;
  }

  /** Opens a session and reads the home; the session ends when the signal aborts. */
  async function openHome(access: string, signal: AbortSignal): Promise<LiveHome | { readonly end: StreamEnd }> {
    const session = await openSession(access, signal);
    if ("end" in session) return session;
    const abort = () => session.finish("unreachable", "no answer in time");
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    const home = new LiveHome(session, timers);
    try {
      await home.start();
    } catch (error) {
      session.finish("malformed", "the home could not be read", { error });
      throw error;
    } finally {
      signal.removeEventListener("abort", abort);
    }
    return home.home.home() ? home : { end: await session.ended };
  }

  async function read(access: string, signal: AbortSignal): Promise<Home> {
    const opened = await within(timers, answerLimitMs, signal, (inTime) => openHome(access, inTime));
    if ("end" in opened) {
      const { reason, detail, error } = opened.end;
      // A defect of Breezeway: the ecosystem could be reached.
      if (error !== undefined) throw error;
      if (reason === "unauthorized") throw new EcosystemRefused(`${name} refused the token: ${detail}.`);
      throw new EcosystemUnreachable(`${name} could not be read: ${detail}.`);
    }
    opened.session.finish("stopped", "the home was read");
    await streamCaughtUp(access, signal);
    return opened.home.home()!;
  }

  /**
   * The home was read beside the stream, and may be newer than events of the stream that are still on their way. After a
   * call on the stream's session these have arrived: the caller then knows that the stream has sent something newer than
   * its request.
   */
  async function streamCaughtUp(access: string, signal: AbortSignal): Promise<void> {
    const followed = live.get(accessIn(access)?.consentKey ?? "");
    if (!followed) return;
    const answered = within(timers, catchUpLimitMs, signal, (inTime) =>
      untilAborted(followed.session.call("get_config"), inTime),
    );
    await answered.catch(() => undefined);
  }

  async function follow(access: string, listener: StreamListener, signal: AbortSignal): Promise<StreamEnd> {
    const session = await within(timers, answerLimitMs, signal, (inTime) => openSession(access, inTime));
    if ("end" in session) return signal.aborted ? stopped : session.end;
    const stop = () => session.finish(stopped.reason, stopped.detail);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    const followed = new LiveHome(session, timers, { listener, searchMs });
    const key = accessIn(access)!.consentKey;
    live.set(key, followed);
    const isLate = () => session.finish("unreachable", "the home was not read in time");
    const cancel = timers.after(answerLimitMs, isLate);
    await followed.start().catch((error) => session.finish("malformed", "the home could not be read", { error }));
    cancel();
    const end = await session.ended;
    signal.removeEventListener("abort", stop);
    if (live.get(key) === followed) live.delete(key);
    return end;
  }

  async function act(access: string, action: Action, signal: AbortSignal): Promise<CommandOutcome> {
    const followed = live.get(accessIn(access)?.consentKey ?? "");
    if (followed?.home.home()) return send(followed, action, timers, signal);
    try {
      return await commandHomes.use(access, signal, (home) =>
        "end" in home ? outcomeOf(home.end) : send(home, action, timers, signal),
      );
    } catch (error) {
      if (signal.aborted) return { state: "unanswered", detail: "no answer in time" };
      throw error;
    }
  }

  return {
    name,
    displayName: "Home Assistant",
    capabilities: { fanNeedsHome: false, planning: { endsEcoFirst: false } },
    credentialFrom: (token, address) => credentialFrom(token, address, allowPrivateNetworks),
    callTokenOf: accessText,
    consent: instanceConsent({ rules, post, nowMs }),
    read,
    isSameAccount: isSameInstance,
    follow,
    act: (access, action, signal) => within(timers, answerLimitMs, signal, (inTime) => act(access, action, inTime)),
    renew: (credential, signal) => renewCredential({ post, nowMs }, credential, signal),
    revoke: (_, signal, credential) =>
      within(timers, answerLimitMs, signal, (inTime) => revokeCredential(post, credential, inTime)),
    pauseMs,
  };
}

const noLongerThere: CommandOutcome = { state: "rejected", message: "The instance no longer has this entity" };

/**
 * Calls the service, once. Success says nothing of the effect: the instance also "succeeds" for a missing entity. So it
 * is asked for the entity, unless it has shown an effect of the call already. The question has a limit of its own: the
 * call was answered, and without an answer to the question the command is accepted.
 */
async function send(
  followed: LiveHome,
  { key, step }: Action,
  timers: Timers,
  signal: AbortSignal,
): Promise<CommandOutcome> {
  const { home, session } = followed;
  const group = home.groupOf(key);
  if (!group) return noLongerThere;
  const call = serviceCallFor(step, group, home);
  if ("refusal" in call) return { state: "rejected", message: call.refusal, reason: "notSupported" };
  const { domain, service, entityId, data } = call;
  const target = { entity_id: entityId };
  const called = session.call("call_service", { domain, service, target, service_data: data });
  const answer = await untilAborted(called, signal).catch(() => noAnswer);
  if (answer.state === "succeeded") {
    const contextId = contextIn(answer.result);
    const hasShown = contextId !== undefined && followed.hasShown(contextId);
    const ask = (inTime: AbortSignal) => isMissing(session, entityId, inTime);
    if (!hasShown && (await within(timers, missingLimitMs, signal, ask))) return noLongerThere;
    const caused = contextId === undefined ? undefined : followed.shown(contextId);
    return { state: "accepted", ...(caused && { caused }) };
  }
  if (answer.state === "lost") return { state: "unanswered", detail: answer.detail };
  return { state: "rejected", message: answer.message || `The instance answered ${answer.code}` };
}

/** The context of a service call. The states that it causes carry the same. */
function contextIn(result: unknown): string | undefined {
  const context = isJsonObject(result) ? result.context : undefined;
  return isJsonObject(context) && typeof context.id === "string" ? context.id : undefined;
}

function outcomeOf({ reason, detail, error }: StreamEnd): CommandOutcome {
  if (error !== undefined) throw error;
  if (reason === "unauthorized") return { state: "unauthorized" };
  // Nothing was sent, but only an instance that answers can say so.
  return { state: "unanswered", detail };
}
