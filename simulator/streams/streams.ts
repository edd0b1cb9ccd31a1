import type { ServerResponse } from "node:http";
import type { Account } from "../accounts/account.ts";
import type { Grant } from "../accounts/grants.ts";
import { viewFor } from "../accounts/reader-view.ts";
import type { ActivityLog } from "../activity-log.ts";
import type { Clock } from "../clock.ts";
import type { Trouble } from "../faults/fault.ts";
import type { Faults } from "../faults/faults.ts";
import { elementAt } from "../home/element.ts";
import type { JsonObject } from "../home/json.ts";
import { cancelFrame, frame, frameOf, keepAliveFrame, openFrame, putText } from "./frames.ts";
import { Stream } from "./stream.ts";
import { type Sending, sendPut } from "./under-faults.ts";

/** Readers with the same token and path see the same bytes, so each frame is made once for all of them. */
interface Audience {
  readonly grant: Grant;
  readonly path: string;
  readonly segments: readonly string[];
  readonly streams: Set<Stream>;
}

type EndReason = "reader" | "revoked" | "cancelled" | "dropped" | "error" | "cut" | "slow" | "stopped";

export interface StreamOptions {
  readonly keepAliveMs: number;
  /** Whether streams begin with an `open` event; the ecosystem's sometimes did. */
  readonly openEvent: boolean;
}

/** What the streams need of the rest. */
export interface StreamRuntime {
  readonly clock: Clock;
  readonly log: ActivityLog;
  readonly faults: Faults;
  readonly nextSerial: () => number;
}

/** The open streams of all accounts. */
export class Streams {
  readonly #around: StreamRuntime;
  readonly #options: StreamOptions;
  readonly #audiences = new Map<Account, Map<string, Audience>>();
  #count = 0;

  constructor(around: StreamRuntime, options: StreamOptions) {
    this.#around = around;
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  /** Opens a stream with the snapshot that starts each connection. */
  open(grant: Grant, segments: readonly string[], response: ServerResponse): void {
    const { clock, log, faults, nextSerial } = this.#around;
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
    if (ending !== undefined) this.#endBy(ending.trouble, audience, stream, () => stream.breakOffAfter());
  }

  /** Sends a change to everybody who reads a part of the account that it touches. */
  publish(account: Account, before: JsonObject): void {
    for (const audience of [...(this.#audiences.get(account)?.values() ?? [])]) {
      const { segments } = audience;
      const isTouched = segments.length === 0 || elementAt(before, segments) !== elementAt(account.document, segments);
      if (isTouched) this.#put(audience, [...audience.streams]);
    }
  }

  /** Tells the readers with this token that it is no longer good, and ends their streams. */
  revoke({ account, token }: Grant): void {
    const farewell = frame("auth_revoked", token);
    this.#endAll(account, (grant) => grant.token === token, "revoked", farewell);
  }

  /** Tells a client's readers that its permissions have changed, and ends their streams; the number of them. */
  cancel(account: Account, clientId: string): number {
    return this.#endAll(account, (grant) => grant.clientId === clientId, "cancelled", cancelFrame);
  }

  /** Breaks the account's streams off without a word; the number of broken ones. */
  drop(account: Account): number {
    return this.strike({ fault: "drop" }, [account]);
  }

  /** Ends the streams of these accounts as the fault says; the number of them. */
  strike(trouble: Trouble, accounts: readonly Account[]): number {
    const open = accounts.flatMap((account) => this.#of(account));
    for (const [audience, stream] of open) this.#endBy(trouble, audience, stream);
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
    const sendings = streams.map((stream) => this.#sendPut(audience, stream, text, usual));
    const readers = sendings.filter((sending) => sending !== "withheld").length;
    if (readers === 0) return;
    this.#around.log.record("put", account.accountId, {
      path,
      revision: account.revision,
      readers,
      bytes: usual.length,
    });
  }

  #sendPut(audience: Audience, stream: Stream, text: string, usual: Buffer): Sending {
    const { account } = audience.grant;
    const sending = sendPut(this.#around, account, audience.path, stream, text, usual);
    if (sending === "cut") this.#forget(audience, stream, "cut");
    else if (stream.isOverfull) this.#breakOff(audience, stream, "slow");
    return sending;
  }

  #keepAlive(audience: Audience, stream: Stream): void {
    const { accountId } = audience.grant.account;
    const decision = this.#around.faults.forFrame({ accountId, event: "keep-alive", streamSerial: stream.serial });
    if (decision === undefined) stream.send([keepAliveFrame]);
    else if (decision.plan.act === "send") stream.send([keepAliveFrame], decision.plan.delayMs);
    if (stream.isOverfull) this.#breakOff(audience, stream, "slow");
  }

  #endBy(trouble: Trouble, audience: Audience, stream: Stream, drop = () => stream.breakOff()): void {
    const isError = trouble.fault === "stream-error";
    this.#forget(audience, stream, isError ? "error" : "dropped");
    if (isError) stream.end(frame("error", { error: trouble.message, message: trouble.message }));
    else drop();
  }

  #endAll(account: Account, isMeant: (grant: Grant) => boolean, reason: EndReason, farewell?: Buffer): number {
    const meant = this.#of(account).filter(([{ grant }]) => isMeant(grant));
    for (const [audience, stream] of meant) {
      this.#forget(audience, stream, reason);
      stream.end(farewell);
    }
    return meant.length;
  }

  #breakOff(audience: Audience, stream: Stream, reason: EndReason): void {
    this.#forget(audience, stream, reason);
    stream.breakOff();
  }

  #forget(audience: Audience, stream: Stream, reason: EndReason): void {
    if (!audience.streams.delete(stream)) return;
    this.#count--;
    stream.forget();
    const { account } = audience.grant;
    this.#around.log.record("stream-closed", account.accountId, { path: audience.path, reason });
    if (audience.streams.size > 0) return;
    const ofAccount = this.#audiences.get(account);
    ofAccount?.delete(audienceKey(audience.grant, audience.path));
    if (ofAccount?.size === 0) this.#audiences.delete(account);
  }

  #audience(grant: Grant, segments: readonly string[]): Audience {
    const path = `/${segments.join("/")}`;
    const ofAccount = this.#audiences.get(grant.account) ?? new Map<string, Audience>();
    this.#audiences.set(grant.account, ofAccount);
    const known = ofAccount.get(audienceKey(grant, path));
    const audience = known ?? { grant, path, segments, streams: new Set<Stream>() };
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
