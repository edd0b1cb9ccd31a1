import type { ServerResponse } from "node:http";
import type { Account } from "../accounts/account.ts";
import type { Grant } from "../accounts/grants.ts";
import { viewFor } from "../accounts/reader-view.ts";
import type { ActivityLog } from "../activity-log.ts";
import type { Clock } from "../clock.ts";
import type { FaultEffect } from "../faults/fault.ts";
import type { Faults } from "../faults/faults.ts";
import { elementAt } from "../home/element.ts";
import type { JsonObject } from "../home/json.ts";
import { cancelFrame, frame, frameOf, keepAliveFrame, openFrame, putText } from "./frames.ts";
import { type Sending, sendPut } from "./send-put.ts";
import { Stream } from "./stream.ts";

/** Streams with the same token and path: each frame is built once for all of them. */
interface Audience {
  readonly grant: Grant;
  readonly path: string;
  readonly segments: readonly string[];
  readonly streams: Set<Stream>;
}

type EndReason = "reader" | "revoked" | "cancelled" | "dropped" | "error" | "cut" | "slow" | "stopped";

export interface StreamOptions {
  readonly keepAliveMs: number;
  /** Whether streams begin with an `open` event; those of the ecosystem sometimes did. */
  readonly openEvent: boolean;
}

export interface StreamRuntime {
  readonly clock: Clock;
  readonly log: ActivityLog;
  readonly faults: Faults;
  readonly nextSerial: () => number;
}

/** The open streams of all accounts. */
export class Streams {
  readonly #parts: StreamRuntime;
  readonly #options: StreamOptions;
  readonly #audiences = new Map<Account, Map<string, Audience>>();
  #count = 0;

  constructor(parts: StreamRuntime, options: StreamOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  /** Opens a stream and sends the snapshot. */
  open(grant: Grant, segments: readonly string[], response: ServerResponse): void {
    const { clock, log, faults, nextSerial } = this.#parts;
    const { accountId } = grant.account;
    const audience = this.#audience(grant, segments);
    const stream = new Stream(nextSerial(), response, clock);
    audience.streams.add(stream);
    this.#count++;
    response.on("close", () => this.#forget(audience, stream, "reader"));
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
    log.record("stream-opened", accountId, { path: audience.path });
    if (this.#options.openEvent) stream.send([openFrame]);
    this.#put(audience, [stream]);
    if (!audience.streams.has(stream)) return;
    stream.keepAlive(this.#options.keepAliveMs, () => this.#keepAlive(audience, stream));
    const ending = faults.forOpened(accountId);
    if (ending !== undefined) this.#endBy(ending.effect, audience, stream, () => stream.destroyAfter());
  }

  /** Sends a put to all streams whose element has changed. */
  publish(account: Account, before: JsonObject): void {
    for (const audience of [...(this.#audiences.get(account)?.values() ?? [])]) {
      const { segments } = audience;
      const isChanged = segments.length === 0 || elementAt(before, segments) !== elementAt(account.document, segments);
      if (isChanged) this.#put(audience, [...audience.streams]);
    }
  }

  /** Ends the streams of this token with an `auth_revoked` event. */
  revoke({ account, token }: Grant): void {
    const lastFrame = frame("auth_revoked", token);
    this.#endAll(account, (grant) => grant.token === token, "revoked", lastFrame);
  }

  /** Ends a client's streams with a `cancel` event. Returns how many there were. */
  cancel(account: Account, clientId: string): number {
    return this.#endAll(account, (grant) => grant.clientId === clientId, "cancelled", cancelFrame);
  }

  /** Closes the connections of the account's streams. Returns how many there were. */
  drop(account: Account): number {
    return this.endByFault({ fault: "drop" }, [account]);
  }

  /** Ends the streams of these accounts as the fault says. Returns how many there were. */
  endByFault(effect: FaultEffect, accounts: readonly Account[]): number {
    const open = accounts.flatMap((account) => this.#of(account));
    for (const [audience, stream] of open) this.#endBy(effect, audience, stream);
    return open.length;
  }

  stop(): void {
    for (const account of [...this.#audiences.keys()]) this.#endAll(account, () => true, "stopped");
  }

  #put(audience: Audience, streams: readonly Stream[]): void {
    const { grant, path, segments } = audience;
    const { account } = grant;
    const text = putText(path, viewFor(grant, segments));
    const usual = frameOf("put", text);
    const results = streams.map((stream) => this.#sendPut(audience, stream, text, usual));
    const readers = results.filter((result) => result !== "withheld").length;
    if (readers === 0) return;
    this.#parts.log.record("put", account.accountId, {
      path,
      revision: account.revision,
      readers,
      bytes: usual.length,
    });
  }

  #sendPut(audience: Audience, stream: Stream, text: string, usual: Buffer): Sending {
    const { account } = audience.grant;
    const result = sendPut(this.#parts, account, audience.path, stream, text, usual);
    if (result === "cut") this.#forget(audience, stream, "cut");
    else if (stream.isOverfull) this.#destroy(audience, stream, "slow");
    return result;
  }

  #keepAlive(audience: Audience, stream: Stream): void {
    const { accountId } = audience.grant.account;
    const decision = this.#parts.faults.forFrame({ accountId, event: "keep-alive", streamSerial: stream.serial });
    if (decision === undefined) stream.send([keepAliveFrame]);
    else if (decision.plan.act === "send") stream.send([keepAliveFrame], decision.plan.delayMs);
    if (stream.isOverfull) this.#destroy(audience, stream, "slow");
  }

  #endBy(effect: FaultEffect, audience: Audience, stream: Stream, drop = () => stream.destroy()): void {
    const isError = effect.fault === "stream-error";
    this.#forget(audience, stream, isError ? "error" : "dropped");
    if (isError) stream.end(frame("error", { error: effect.message, message: effect.message }));
    else drop();
  }

  #endAll(account: Account, matches: (grant: Grant) => boolean, reason: EndReason, lastFrame?: Buffer): number {
    const matching = this.#of(account).filter(([{ grant }]) => matches(grant));
    for (const [audience, stream] of matching) {
      this.#forget(audience, stream, reason);
      stream.end(lastFrame);
    }
    return matching.length;
  }

  #destroy(audience: Audience, stream: Stream, reason: EndReason): void {
    this.#forget(audience, stream, reason);
    stream.destroy();
  }

  #forget(audience: Audience, stream: Stream, reason: EndReason): void {
    if (!audience.streams.delete(stream)) return;
    this.#count--;
    stream.forget();
    const { account } = audience.grant;
    this.#parts.log.record("stream-closed", account.accountId, { path: audience.path, reason });
    if (audience.streams.size > 0) return;
    const ofAccount = this.#audiences.get(account);
    ofAccount?.delete(audienceKey(audience.grant, audience.path));
    if (ofAccount?.size === 0) this.#audiences.delete(account);
  }

  #audience(grant: Grant, segments: readonly string[]): Audience {
    const path = `/${segments.join("/")}`;
    const ofAccount = this.#audiences.get(grant.account) ?? new Map<string, Audience>();
    this.#audiences.set(grant.account, ofAccount);
    const existing = ofAccount.get(audienceKey(grant, path));
    const audience = existing ?? { grant, path, segments, streams: new Set<Stream>() };
    ofAccount.set(audienceKey(grant, path), audience);
    return audience;
  }

  #of(account: Account): [Audience, Stream][] {
    const audiences = [...(this.#audiences.get(account)?.values() ?? [])];
    return audiences.flatMap((audience) =>
      [...audience.streams].map((stream): [Audience, Stream] => [audience, stream]),
    );
  }
}

function audienceKey({ token }: Grant, path: string): string {
  return `${token} ${path}`;
}
