import type { Connector } from "../ecosystems/connector.ts";
import type { Credential, RenewalOutcome } from "../ecosystems/credential.ts";
import { StoreUnavailable } from "../model/errors.ts";
import { type Cancel, pause, type Runtime, within } from "../runtime/runtime.ts";
import { aborted } from "./aborted.ts";
import type { ConnectionRateLimiter } from "./admission.ts";
import { callTokenOf, isCredential, type OpenedCredential, secretsOf } from "./credential.ts";
import { renewalDelay, retryDelayMs, shortestIntervalMs } from "./renewal-times.ts";
import { beginRenewal, clearRefused, renewalLimitMs, type StoredRenewalParts, storeRenewed } from "./stored-renewal.ts";

export interface LinkCredentialParts extends StoredRenewalParts {
  readonly connector: Connector;
  /** Admission control for the renewals of all links of this node. */
  readonly admission: ConnectionRateLimiter;
  readonly runtime: Runtime;
  /** Called when the ecosystem refuses to renew: only consent of the user helps. */
  readonly refused: (reason: string) => void;
  /** Called with the reason why the last try failed; "" when a renewal succeeded. */
  readonly faulted: (reason: string) => void;
  /** Called with an unexpected error of the connector or the store. Renewal goes on. */
  readonly failed: (error: unknown) => void;
}

/** What a follower needs of a credential. */
export interface FollowedCredential {
  /** The access token that is valid now. */
  readonly token: string;
  /** The ecosystem has accepted this token. */
  accepted(token: string): void;
  /** The ecosystem has refused this token for a stream or a command. */
  refused(token: string, by: "stream" | "command"): void;
  /** Whether the ecosystem has refused this token: then no call may use it. */
  isRefused(token: string): boolean;
  /** Whether another token can be had after the ecosystem has refused this one. */
  canReplace(token: string): boolean;
  /** Resolves when there is another token, when none can be obtained, or when the signal aborts. */
  replace(token: string, signal: AbortSignal): Promise<void>;
}

/** How long a stopping node waits for a renewal in progress: its answer may hold the only valid refresh token. */
const patienceMs = 3_000;
const storeRetryMs = 1_000;

/**
 * The credential of one link over time. The link's owner renews it ahead of its expiry, and when the ecosystem refuses
 * its token. There is at most one renewal at a time, over all nodes, and a new credential is stored before it is used.
 * A renewal without an answer is tried again with the old credential after a growing pause, and the token stays in use
 * meanwhile.
 */
export class LinkCredential implements FollowedCredential {
  readonly #parts: LinkCredentialParts;
  readonly #stopping = new AbortController();
  /** Aborts the call in progress, later than `#stopping`. */
  readonly #giveUp = new AbortController();
  #credential: Credential;
  #isRenewable: boolean;
  #jitter: number;
  #planned: Cancel | undefined;
  #renewing: Promise<void> | undefined;
  /** The mark of a renewal that has ended when this node tries next. */
  #endedMarkMs: number | undefined;
  #renewedMs: number | undefined;
  #failures = 0;
  /** The token was refused, renewed, and the new one was not accepted yet: another refusal is final. */
  #isLastTry = false;
  #refusedToken: string | undefined;
  #isRefused = false;

  constructor(parts: LinkCredentialParts, opened: OpenedCredential) {
    this.#parts = parts;
    this.#credential = opened.credential;
    this.#isRenewable = opened.isRenewable && parts.connector.renew !== undefined;
    this.#jitter = parts.runtime.random();
  }

  get token(): string {
    return callTokenOf(this.#parts.connector, this.#credential);
  }

  /** Whether this node renews it. */
  get isRenewable(): boolean {
    return this.#isRenewable;
  }

  /** The texts that no log, error or status may show. */
  get secrets(): readonly string[] {
    return secretsOf(this.#credential);
  }

  /** Plans the next renewal. */
  start(): void {
    this.#plan();
  }

  /** Ends the planning, and waits for a renewal in progress. Never rejects. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#planned?.();
    if (!this.#renewing) return;
    const cancel = this.#parts.runtime.after(patienceMs, () => this.#giveUp.abort());
    await this.#renewing;
    cancel();
  }

  accepted(token: string): void {
    if (token === this.token) this.#isLastTry = false;
  }

  /** Without renewal only the stream decides about a token: the ecosystem may refuse commands for other reasons. */
  refused(token: string, by: "stream" | "command"): void {
    if (token === this.token && (this.#isRenewable || by === "stream")) this.#refusedToken = token;
  }

  isRefused(token: string): boolean {
    return token === this.#refusedToken;
  }

  canReplace(token: string): boolean {
    if (token !== this.token) return true;
    return this.#isRenewable && !this.#isLastTry && !this.#isRefused && !this.#stopping.signal.aborted;
  }

  async replace(token: string, signal: AbortSignal): Promise<void> {
    if (token !== this.token || !this.canReplace(token)) return;
    const renewedMs = this.#renewedMs;
    const renewed = this.#renew().then(() => {
      if (this.#renewedMs !== renewedMs) this.#isLastTry = true;
    });
    await Promise.race([renewed, aborted(signal)]);
  }

  #plan(): void {
    this.#planned?.();
    const { runtime } = this.#parts;
    if (!this.#isRenewable || this.#isRefused || this.#stopping.signal.aborted) return;
    const next = renewalDelay(this.#credential, runtime.nowMs(), this.#jitter);
    if (!next) return;
    this.#planned = runtime.after(next.delayMs, () => {
      if (next.isDue) void this.#renew();
      else this.#plan();
    });
  }

  /** Single-flight: callers join the renewal in progress. Never rejects. */
  #renew(): Promise<void> {
    this.#renewing ??= this.#untilRenewed()
      .catch((error) => this.#parts.failed(error))
      .finally(() => {
        this.#renewing = undefined;
        this.#plan();
      });
    return this.#renewing;
  }

  /** Tries until there is another credential, the ecosystem refuses, or this node stops. */
  async #untilRenewed(): Promise<void> {
    const { runtime, admission } = this.#parts;
    const { signal } = this.#stopping;
    this.#planned?.();
    const earliestMs = this.#renewedMs === undefined ? 0 : this.#renewedMs + shortestIntervalMs;
    if (earliestMs > runtime.elapsedMs()) await pause(runtime, earliestMs - runtime.elapsedMs(), signal);
    for (;;) {
      await admission.admit(signal);
      if (signal.aborted) return;
      const waitMs = await this.#try();
      if (waitMs === undefined) return;
      await pause(runtime, waitMs, signal);
    }
  }

  /** One try. Returns the pause before the next one; undefined when no other is needed. */
  async #try(): Promise<number | undefined> {
    const before = this.#credential;
    const { runtime } = this.#parts;
    const beganMs = runtime.elapsedMs();
    try {
      const start = await beginRenewal(this.#parts, before, this.#endedMarkMs);
      // Wait for each mark once: after the clock was set back, the mark would stay in the future.
      if (start.state === "busy") {
        this.#endedMarkMs = start.markMs;
        return start.forMs;
      }
      // The lane and the record notice the loss too, and end the work for the link.
      if (start.state === "lost") return void this.#stopping.abort();
      if (start.state === "replaced") return this.#adopt(start.opened);
      this.#endedMarkMs = start.markMs;
      // The next owner renews it: a call that begins now would be given up.
      if (this.#stopping.signal.aborted) return await this.#clearMark(start.markMs);
      // The mark may be as old as this try: a slow store leaves less time for the call.
      const leftMs = renewalLimitMs - (runtime.elapsedMs() - beganMs);
      if (leftMs <= 0) return this.#unanswered("the store is slow");
      const outcome = await this.#call(before, leftMs);
      if (outcome.state === "refused") {
        this.#refuse(outcome.reason);
        return await this.#clearMark(start.markMs);
      }
      if (outcome.state === "unanswered") return this.#unanswered(outcome.detail);
      const stored = await this.#store(before, start.markMs, outcome.credential);
      if (!stored) return void this.#stopping.abort();
      this.#renewedMs = runtime.elapsedMs();
      return this.#adopt({ credential: stored, isRenewable: true });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) this.#parts.failed(error);
      return this.#unanswered("the store is not available or refused to record it");
    }
  }

  /** Calls the ecosystem, with a time limit that also holds for a connector that ignores its signal. */
  async #call(before: Credential, limitMs: number): Promise<RenewalOutcome> {
    const { connector, runtime, failed } = this.#parts;
    const late: RenewalOutcome = { state: "unanswered", detail: "no answer in time" };
    try {
      const outcome = await within(runtime, limitMs, this.#giveUp.signal, (inTime) =>
        Promise.race([connector.renew!(before, inTime), aborted(inTime).then(() => late)]),
      );
      if (outcome.state !== "renewed") return outcome;
      if (!isCredential(outcome.credential)) return { state: "unanswered", detail: "the answer has no access token" };
      // An ecosystem that does not rotate refresh tokens may leave the refresh token out.
      const { refreshToken = before.refreshToken } = outcome.credential;
      return { state: "renewed", credential: { ...outcome.credential, ...(refreshToken && { refreshToken }) } };
    } catch (error) {
      failed(error);
      return { state: "unanswered", detail: "the connector failed" };
    }
  }

  /**
   * Stores the credential before it is used, and retries while the store is unavailable: the ecosystem may have revoked
   * the old refresh token already. For the same reason it waits while another owner of the link is in a call.
   */
  async #store(before: Credential, markMs: number, renewed: Credential): Promise<Credential | undefined> {
    for (;;) {
      try {
        const stored = await storeRenewed(this.#parts, before, markMs, renewed);
        if (stored !== "busy") return stored;
        if (this.#giveUp.signal.aborted) return undefined;
        await pause(this.#parts.runtime, storeRetryMs, this.#giveUp.signal);
      } catch (error) {
        if (this.#giveUp.signal.aborted) throw error;
        if (!(error instanceof StoreUnavailable)) this.#parts.failed(error);
        await pause(this.#parts.runtime, storeRetryMs, this.#giveUp.signal);
      }
    }
  }

  /** Retries while the store is unavailable: another node may come back with an answer at the same time. */
  async #clearMark(markMs: number): Promise<undefined> {
    const { runtime, failed } = this.#parts;
    while (!this.#giveUp.signal.aborted) {
      try {
        return void (await clearRefused(this.#parts, markMs));
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) return void failed(error);
        await pause(runtime, storeRetryMs, this.#giveUp.signal);
      }
    }
  }

  #adopt({ credential, isRenewable }: OpenedCredential): undefined {
    this.#credential = credential;
    this.#isRenewable = isRenewable && this.#parts.connector.renew !== undefined;
    this.#jitter = this.#parts.runtime.random();
    this.#failures = 0;
    this.#parts.faulted("");
  }

  #refuse(reason: string): undefined {
    this.#isRefused = true;
    this.#parts.faulted("");
    this.#parts.refused(this.#shown(reason));
  }

  /** The error is logged at the 1st, 2nd, 4th, 8th failure and so on. */
  #unanswered(detail: string): number {
    const { runtime, faulted, link } = this.#parts;
    this.#failures += 1;
    const reason = `its token can't be renewed: ${this.#shown(detail)}`;
    faulted(reason);
    const { userId, deviceId, ecosystem } = link;
    const fields = { userId, deviceId, ecosystem, failures: this.#failures, reason };
    const isPowerOfTwo = (this.#failures & (this.#failures - 1)) === 0;
    if (isPowerOfTwo) runtime.report.warn(fields, "a link's credential could not be renewed; it is tried again");
    return retryDelayMs(this.#failures, runtime.random());
  }

  #shown(text: string): string {
    return this.secrets.some((secret) => text.includes(secret)) ? "(its text held a token and is withheld)" : text;
  }
}
