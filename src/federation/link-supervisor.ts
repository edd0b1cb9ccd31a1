import type { Commit } from "../devices/commit.ts";
import type { Connector } from "../ecosystems/connector.ts";
import type { Membership } from "../nodes/membership.ts";
import type { ErrorOwner, ErrorOwners } from "../runtime/error-owners.ts";
import type { Cancel, Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import type { LinkRow } from "../store/tables/links.ts";
import type { ConnectionRateLimiter } from "./admission.ts";
import type { AwaitedFans } from "./commands/awaited-fans.ts";
import { type OpenedCredential, openCredential, type TokenSealing } from "./credential.ts";
import type { Feeds } from "./feeds/feeds.ts";
import type { Mirrored } from "./lane.ts";
import { LinkCredential } from "./link-credential.ts";
import {
  FaultBackOff,
  keyCheckMs,
  type LinkFaultKind,
  newErrorId,
  type PauseCause,
  pauseReason,
  tokenReason,
  withoutToken,
} from "./link-faults.ts";
import type { LinkKey } from "./link-key.ts";
import { LinkRecord, type LinkStanding } from "./link-record.ts";
import { type LinkRun, newRun } from "./link-run.ts";
import { withRenewal } from "./renewing-connector.ts";
import type { SampleTurns } from "./sample-turns.ts";
import { type StoredLinkTables, writeStanding } from "./stored-link.ts";
import type { ThingIdOf } from "./thing-marks.ts";

export interface LinkSupervisorParts {
  readonly store: Store<StoredLinkTables>;
  readonly membership: Membership;
  readonly connector: Connector;
  readonly commit: Commit;
  readonly sealing: TokenSealing;
  readonly admission: ConnectionRateLimiter;
  /** Admission control for the renewals of all links of this node. */
  readonly renewals: ConnectionRateLimiter;
  /** Rate limit for the samples of all links of this node. */
  readonly sampleTurns: SampleTurns;
  readonly thingIdOf: ThingIdOf;
  readonly runtime: Runtime;
  readonly owners: ErrorOwners;
  readonly countFault: (kind: LinkFaultKind) => void;
  readonly restated?: AwaitedFans["restated"];
  readonly feeds?: Pick<Feeds, "messagesOf" | "callsOf">;
  /** Called when another node owns the link now, or the link was removed. */
  readonly lost: () => void;
}

/** Faults that leave the stream alone. */
const harmlessKinds: readonly LinkFaultKind[] = ["command", "record", "renewal"];
/** In the status of a live link. */
const slowSentence = "its home sends more than its share, so it is read more slowly";
const faultSentence = "an internal error in a link's work";

/**
 * Owns all work that this node does for one link. An unexpected error in that work pauses this link with a reason that
 * its status shows, and the link is tried again after a growing pause. No method throws: the keeper, the process and
 * all other links go on.
 */
export class LinkSupervisor implements ErrorOwner {
  readonly link: LinkKey;
  readonly #parts: LinkSupervisorParts;
  readonly #row: LinkRow;
  readonly #record: LinkRecord;
  readonly #stopping = new AbortController();
  readonly #backOff = new FaultBackOff();
  /** Undefined until its token could be opened. */
  #credential: LinkCredential | undefined;
  #run: LinkRun | undefined;
  /** Resolves when the ended runs have no work left. */
  #ended: Promise<void> = Promise.resolve();
  #paused: { readonly cause: PauseCause; readonly reason: string } | undefined;
  #next: Cancel | undefined;
  #tokenFailures = 0;
  /** The reason that the status shows while the record can't be stored; "" otherwise. */
  #recordFault = "";
  /** The reason that the status shows while the credential can't be renewed; "" otherwise. */
  #renewalFault = "";
  #isSlowed = false;
  #confirmedMs: number;
  #drifts = 0;
  #partialPuts = 0;

  constructor(parts: LinkSupervisorParts, row: LinkRow) {
    const { store, membership, runtime } = parts;
    this.#parts = parts;
    const ownership = { owner: membership.id, epoch: row.epoch };
    this.link = { userId: row.userId, deviceId: row.deviceId, ecosystem: row.ecosystem, ownership };
    this.#row = row;
    // Clamp future timestamps: they would mask staleness.
    this.#confirmedMs = Math.min(row.confirmedMs, runtime.nowMs());
    this.#record = new LinkRecord(
      {
        link: this.link,
        write: async (standing, ended) => {
          await writeStanding(store, this.link, standing, ended, this.confirmedMs);
          this.#recordFault = "";
        },
        runtime,
        uncertaintyMs: () => membership.uncertaintyMs,
        failed: (error) => this.failed("record", error),
        signal: this.#stopping.signal,
      },
      row,
    );
  }

  /** A new link passes what it has mirrored. */
  start(mirrored?: Mirrored): void {
    this.#guard("stream", () => this.#try(mirrored));
  }

  /** Ends the stream, waits for the lane's commit, and stores the standing. Never rejects. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#next?.();
    this.#end();
    await Promise.all([this.#ended, this.#credential?.stop()]);
    await this.#record.written();
  }

  get isLive(): boolean {
    return this.#run?.follower.isLive ?? false;
  }

  get confirmedMs(): number {
    return Math.max(this.#run?.follower.confirmedMs ?? this.#confirmedMs, this.#record.blindUntilMs);
  }

  /** For how long nothing has confirmed the account; without end while the link is paused. */
  get unconfirmedMs(): number {
    return this.#run?.follower.unconfirmedMs ?? Number.POSITIVE_INFINITY;
  }

  get drifts(): number {
    return this.#drifts + (this.#run?.follower.drifts ?? 0);
  }

  get partialPuts(): number {
    return this.#partialPuts + (this.#run?.follower.partialPuts ?? 0);
  }

  /** Ahead of the store by at most one write. */
  get standing(): LinkStanding {
    const { standing } = this.#record;
    // Entering the pause may have failed: a paused link must not look live.
    if (this.#paused && standing.state === "live") {
      const { reason } = this.#paused;
      return { state: "waiting", reason, blindness: { sinceMs: this.confirmedMs, cause: reason } };
    }
    const slowReason = this.#isSlowed ? slowSentence : "";
    const reason = standing.reason || this.#recordFault || this.#renewalFault || slowReason;
    return reason === standing.reason ? standing : { ...standing, reason };
  }

  /** Whether the account is read more slowly, because it took more than its share of CPU. */
  get isSlowed(): boolean {
    return this.#isSlowed;
  }

  /** Whether the store has the standing. */
  get isWritten(): boolean {
    return this.#record.isWritten;
  }

  get pausedBy(): PauseCause | undefined {
    return this.#paused?.cause;
  }

  /** How to send commands to the account; undefined while its token can't be opened. */
  get connection() {
    const { link } = this;
    const { owners } = this.#parts;
    const credential = this.#credential;
    if (!credential) return undefined;
    return {
      link,
      token: credential.token,
      connector: withRenewal(this.#parts.connector, credential, this.#parts.runtime),
      run: <Result>(act: () => Result) => owners.run(this, act),
      failed: (error: unknown) => this.failed("command", error),
      readSoon: () => this.#run?.follower.readSoon(),
      stored: async () => (await this.#run?.follower.idle()) ?? false,
    };
  }

  isFollowingWith(token: string): boolean {
    return this.#run?.follower.isFollowingWith(token) ?? false;
  }

  /** Handles an error of this link's work that nothing else caught. */
  uncaught(error: unknown): void {
    this.failed("uncaught", error);
  }

  /**
   * Handles a fault. A failed fan request, a failed renewal and a failed write of the record leave the stream alone, so
   * that alarms still come through. Every other fault pauses the link.
   */
  failed(kind: LinkFaultKind, error: unknown): void {
    try {
      const errorId = newErrorId(this.#parts.runtime);
      this.#parts.countFault(kind);
      const isPausing = !harmlessKinds.includes(kind) && !this.#stopping.signal.aborted;
      if (kind === "record") this.#recordFault = `its state can't be stored (error id ${errorId})`;
      if (isPausing) this.#pause(errorId);
      const fields = { ...this.#names, kind, errorId, error: withoutToken(error, this.#credential?.secrets ?? []) };
      this.#parts.runtime.report.error(fields, isPausing ? "an internal error paused the link" : faultSentence);
    } catch (second) {
      this.#failSafely(second);
    }
  }

  #try(mirrored?: Mirrored): void {
    this.#next = undefined;
    if (this.#stopping.signal.aborted || this.#record.standing.state === "needs_reauth") return;
    // If entering the pause failed, enter it now: otherwise the blind interval would be missing.
    if (this.#paused && this.#record.standing.state === "live") this.#record.enter("waiting", this.#paused.reason);
    const { runtime } = this.#parts;
    this.#backOff.tried(runtime.elapsedMs());
    // A credential may have been renewed since this node read the link.
    const credential = this.#credential?.isRenewable ? this.#credential : this.#openCredential();
    if (!credential) return;
    this.#credential = credential;
    this.#paused = undefined;
    this.#run = this.#newRun(credential, mirrored);
    this.#run.follower.start();
  }

  #newRun(credential: LinkCredential, mirrored: Mirrored | undefined): LinkRun {
    const stopping = new AbortController();
    // Errors of an ended run are counted and reported, but pause nothing.
    const failed = (kind: LinkFaultKind, error: unknown) => {
      if (this.#run?.stopping === stopping || this.#stopping.signal.aborted) this.failed(kind, error);
      else this.#report(kind, error);
    };
    const { link } = this;
    const slowed = (isSlowed: boolean) => {
      this.#isSlowed = isSlowed;
    };
    const own = { link, credential, record: this.#record, stopping, confirmedMs: this.#confirmedMs, mirrored };
    return newRun({ ...this.#parts, ...own, failed, slowed });
  }

  #openCredential(): LinkCredential | undefined {
    const { sealing, renewals, runtime } = this.#parts;
    let opened: OpenedCredential;
    try {
      opened = openCredential(sealing.open, this.#row);
    } catch (error) {
      this.#awaitKey(error);
      return undefined;
    }
    this.#tokenFailures = 0;
    const fields = { ...this.#names, error: opened.fault };
    if (opened.fault)
      runtime.report.error(fields, "a link's credential can't be opened; its token is used until it expires");
    const callbacks = {
      refused: (reason: string) => this.#needsReauth(reason),
      faulted: (reason: string) => this.#renewalFaulted(reason),
      failed: (error: unknown) => this.failed("renewal", error),
    };
    const credential = new LinkCredential(
      { ...this.#parts, ...callbacks, link: this.link, admission: renewals },
      opened,
    );
    credential.start();
    return credential;
  }

  /** The ecosystem refused to renew: the stream is ended with the change of state, so that it can't become live again. */
  #needsReauth(reason: string): void {
    this.#next?.();
    this.#next = undefined;
    this.#paused = undefined;
    this.#end();
    this.#record.enter("needs_reauth", reason);
  }

  /** A live link shows the reason beside its state. A link that waits for the renewal stores it. */
  #renewalFaulted(reason: string): void {
    this.#renewalFault = reason;
    if (reason !== "" && this.#run && this.#record.standing.state === "waiting") this.#record.enter("waiting", reason);
  }

  /**
   * Waits for a key: only another key file or a new token helps. The error is logged at the 1st, 2nd, 4th, 8th failure
   * and so on.
   */
  #awaitKey(error: unknown): void {
    const { runtime, countFault } = this.#parts;
    this.#paused = { cause: "token", reason: tokenReason };
    this.#next = runtime.after(keyCheckMs, () => this.#guard("token", () => this.#try()));
    this.#record.enter("waiting", tokenReason);
    countFault("token");
    this.#tokenFailures += 1;
    const isPowerOfTwo = (this.#tokenFailures & (this.#tokenFailures - 1)) === 0;
    const fields = { ...this.#names, kind: "token", failures: this.#tokenFailures, error };
    if (isPowerOfTwo) runtime.report.error(fields, "a link's token can't be opened with the keys of this node");
  }

  #pause(errorId: string): void {
    // A refused token needs a new one: nothing to try again.
    const isRefused = this.#record.standing.state === "needs_reauth";
    const isPaused = this.#next !== undefined;
    this.#end();
    if (isRefused || isPaused) return;
    const delayMs = this.#backOff.nextMs(this.#parts.runtime.elapsedMs());
    this.#paused = { cause: "error", reason: pauseReason(delayMs, errorId) };
    this.#tryIn(delayMs);
    this.#record.enter("waiting", this.#paused.reason);
  }

  /** The next run starts when the last one has ended: two runs at once would write with the same epoch. */
  #tryIn(delayMs: number): void {
    const { runtime } = this.#parts;
    this.#next = runtime.after(delayMs, () => {
      void this.#ended.then(() => this.#guard("stream", () => this.#try()));
    });
  }

  #end(): void {
    const run = this.#run;
    if (!run) return;
    this.#confirmedMs = this.confirmedMs;
    this.#drifts = this.drifts;
    this.#partialPuts = this.partialPuts;
    this.#run = undefined;
    run.stopping.abort();
    const ended = run.follower.stop().catch((error) => this.#report("stream", error));
    this.#ended = Promise.all([this.#ended, ended]).then(() => undefined);
  }

  #guard(kind: LinkFaultKind, act: () => void): void {
    this.#parts.owners.run(this, () => {
      try {
        act();
      } catch (error) {
        this.failed(kind, error);
      }
    });
  }

  #report(kind: LinkFaultKind, error: unknown): void {
    try {
      this.#parts.countFault(kind);
      const errorId = newErrorId(this.#parts.runtime);
      const fields = { ...this.#names, kind, errorId, error: withoutToken(error, this.#credential?.secrets ?? []) };
      this.#parts.runtime.report.error(fields, faultSentence);
    } catch {
      // Reporting failed; the link goes on.
    }
  }

  /** The handling of a fault failed: make sure that the run ends and another try is scheduled. */
  #failSafely(error: unknown): void {
    this.#report("uncaught", error);
    if (this.#stopping.signal.aborted) return;
    this.#end();
    this.#paused ??= { cause: "error", reason: pauseReason(keyCheckMs, "unknown") };
    if (!this.#next) this.#tryIn(keyCheckMs);
  }

  get #names() {
    const { userId, deviceId, ecosystem, ownership } = this.link;
    return { userId, deviceId, ecosystem, epoch: ownership.epoch };
  }
}
