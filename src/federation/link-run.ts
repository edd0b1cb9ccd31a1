import type { Commit } from "../devices/commit.ts";
import type { Connector } from "../ecosystems/connector.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import type { ConnectionRateLimiter } from "./admission.ts";
import type { AwaitedFans } from "./commands/awaited-fans.ts";
import type { Feeds } from "./feeds/feeds.ts";
import { Follower } from "./follower.ts";
import { Lane, type Mirrored } from "./lane.ts";
import type { FollowedCredential } from "./link-credential.ts";
import type { FailLink } from "./link-faults.ts";
import type { LinkKey } from "./link-key.ts";
import type { LinkRecord } from "./link-record.ts";
import type { SampleTurns } from "./sample-turns.ts";
import { loadMirrored, loadThings, type StoredLinkTables } from "./stored-link.ts";
import type { ThingIdOf } from "./thing-marks.ts";

export interface LinkRunParts {
  readonly link: LinkKey;
  readonly credential: FollowedCredential;
  readonly record: LinkRecord;
  readonly store: Store<StoredLinkTables>;
  readonly connector: Connector;
  readonly commit: Commit;
  readonly admission: ConnectionRateLimiter;
  readonly sampleTurns: SampleTurns;
  readonly runtime: Runtime;
  readonly stopping: AbortController;
  /** When the ecosystem last confirmed the whole state. */
  readonly confirmedMs: number;
  /** What the store holds, if known. */
  readonly mirrored: Mirrored | undefined;
  readonly failed: FailLink;
  readonly slowed: (isSlowed: boolean) => void;
  readonly lost: () => void;
  readonly thingIdOf: ThingIdOf;
  readonly feeds?: Pick<Feeds, "messagesOf" | "callsOf">;
  /** Which values a snapshot confirms without changing them. */
  readonly restated?: AwaitedFans["restated"];
}

/** One run of a link, from its start to its first fault. */
export interface LinkRun {
  readonly stopping: AbortController;
  readonly follower: Follower;
}

export function newRun(parts: LinkRunParts): LinkRun {
  const { link, credential, record, store, connector, commit, admission, stopping, failed, lost, slowed } = parts;
  const runtime = guardedTimers(parts.runtime, failed);
  const lane = new Lane(
    {
      link,
      commit,
      load: () => loadMirrored(store, link),
      thingIdOf: parts.thingIdOf,
      restated: (receivedMs, readValues) => parts.restated?.(link.deviceId, receivedMs, readValues),
      stored: (account, hasChanged) => follower.stored(account, hasChanged),
      snapshotDropped: (sinceMs) => record.snapshotDropped(sinceMs, "the store was too slow"),
      lost,
      failed: (error) => failed("snapshot", error),
      sampleTurns: parts.sampleTurns,
      runtime,
    },
    parts.mirrored,
  );
  const fed = connector.feed && parts.feeds;
  const storedThings = async () => {
    // What the stream before has sent may not be stored yet.
    await lane.idle();
    return loadThings(store, link);
  };
  const followedLink = fed && {
    access: () => credential.token,
    storedThings,
    messages: fed.messagesOf(link),
    calls: fed.callsOf(link),
  };
  const followed = {
    ...{ credential, connector, lane, record, admission, runtime, stopping, failed, slowed, storedThings },
    ...(followedLink && { link: followedLink }),
  };
  const follower: Follower = new Follower(followed, parts.confirmedMs);
  return { stopping, follower };
}

/** Catches errors of delayed steps: they would be uncaught exceptions. */
function guardedTimers(runtime: Runtime, failed: FailLink): Runtime {
  const guarded = (act: () => void) => () => {
    try {
      act();
    } catch (error) {
      failed("timer", error);
    }
  };
  return { ...runtime, after: (delayMs, act) => runtime.after(delayMs, guarded(act)) };
}
