import type { ServerResponse } from "node:http";
import type { Account } from "../accounts/account.ts";
import { viewFor } from "../accounts/reader-view.ts";
import type { ActivityLog } from "../activity-log.ts";
import type { Cancel, Clock } from "../clock.ts";
import { elementAt } from "../home/element.ts";
import type { JsonObject } from "../home/json.ts";
import { frame, keepAliveFrame, putFrame } from "./frames.ts";

/** Readers with the same token and path see the same bytes, so each frame is made once for all of them. */
interface Audience {
  readonly account: Account;
  readonly token: string;
  readonly path: string;
  readonly segments: readonly string[];
  readonly streams: Set<Stream>;
}

interface Stream {
  readonly response: ServerResponse;
  cancelKeepAlive: Cancel;
}

type EndReason = "reader" | "revoked" | "dropped" | "slow" | "stopped";

/** A reader that leaves so many bytes unread is cut off: it would fill the memory. */
const mostUnreadBytes = 64 * 1024 * 1024;

/** The open streams of all accounts. */
export class Streams {
  readonly #clock: Clock;
  readonly #log: ActivityLog;
  readonly #keepAliveMs: number;
  readonly #audiences = new Map<Account, Map<string, Audience>>();
  #count = 0;

  constructor(clock: Clock, log: ActivityLog, keepAliveMs: number) {
    this.#clock = clock;
    this.#log = log;
    this.#keepAliveMs = keepAliveMs;
  }

  get count(): number {
    return this.#count;
  }

  /** Opens a stream with the snapshot that starts each connection. */
  open(account: Account, token: string, segments: readonly string[], response: ServerResponse): void {
    const audience = this.#audience(account, token, segments);
    const stream: Stream = { response, cancelKeepAlive: () => {} };
    audience.streams.add(stream);
    this.#count++;
    response.on("close", () => this.#forget(audience, stream, "reader"));
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
    this.#log.record("stream-opened", account.accountId, { path: audience.path });
    this.#put(audience, [stream]);
    this.#keepAlive(audience, stream);
  }

  /** Sends a change to everybody who reads a part of the account that it touches. */
  publish(account: Account, before: JsonObject): void {
    for (const audience of this.#audiences.get(account)?.values() ?? []) {
      const { segments } = audience;
      const isTouched = segments.length === 0 || elementAt(before, segments) !== elementAt(account.document, segments);
      if (isTouched) this.#put(audience, audience.streams);
    }
  }

  /** Tells the readers with this token that it is no longer good, and ends their streams. */
  revoke(account: Account, token: string): void {
    const farewell = frame("auth_revoked", token);
    for (const [audience, stream] of this.#of(account)) {
      if (audience.token !== token) continue;
      this.#forget(audience, stream, "revoked");
      stream.response.end(farewell);
    }
  }

  /** Breaks the account's streams off without a word; the number of broken ones. */
  drop(account: Account): number {
    const open = this.#of(account);
    for (const [audience, stream] of open) this.#breakOff(audience, stream, "dropped");
    return open.length;
  }

  stop(): void {
    for (const account of [...this.#audiences.keys()]) {
      for (const [audience, stream] of this.#of(account)) {
        this.#forget(audience, stream, "stopped");
        stream.response.end();
      }
    }
  }

  #put(audience: Audience, streams: Iterable<Stream>): void {
    const { account, token, path, segments } = audience;
    const bytes = putFrame(path, viewFor(token, account.document, segments));
    let readers = 0;
    for (const stream of streams) {
      readers++;
      this.#send(audience, stream, bytes);
    }
    this.#log.record("put", account.accountId, { path, revision: account.revision, readers, bytes: bytes.length });
  }

  #send(audience: Audience, stream: Stream, bytes: Buffer): void {
    stream.response.write(bytes);
    if (stream.response.writableLength > mostUnreadBytes) this.#breakOff(audience, stream, "slow");
  }

  #keepAlive(audience: Audience, stream: Stream): void {
    stream.cancelKeepAlive = this.#clock.after(this.#keepAliveMs, () => {
      this.#send(audience, stream, keepAliveFrame);
      if (audience.streams.has(stream)) this.#keepAlive(audience, stream);
    });
  }

  #breakOff(audience: Audience, stream: Stream, reason: EndReason): void {
    this.#forget(audience, stream, reason);
    stream.response.destroy();
  }

  #forget(audience: Audience, stream: Stream, reason: EndReason): void {
    if (!audience.streams.delete(stream)) return;
    this.#count--;
    stream.cancelKeepAlive();
    this.#log.record("stream-closed", audience.account.accountId, { path: audience.path, reason });
    if (audience.streams.size > 0) return;
    const ofAccount = this.#audiences.get(audience.account);
    ofAccount?.delete(audienceKey(audience.token, audience.path));
    if (ofAccount?.size === 0) this.#audiences.delete(audience.account);
  }

  #audience(account: Account, token: string, segments: readonly string[]): Audience {
    const path = `/${segments.join("/")}`;
    const ofAccount = this.#audiences.get(account) ?? new Map<string, Audience>();
    this.#audiences.set(account, ofAccount);
    const known = ofAccount.get(audienceKey(token, path));
    const audience = known ?? { account, token, path, segments, streams: new Set<Stream>() };
    ofAccount.set(audienceKey(token, path), audience);
    return audience;
  }

  #of(account: Account): [Audience, Stream][] {
    const audiences = [...(this.#audiences.get(account)?.values() ?? [])];
    return audiences.flatMap((audience) =>
      [...audience.streams].map((stream): [Audience, Stream] => [audience, stream]),
    );
  }
}

function audienceKey(token: string, path: string): string {
  return `${token} ${path}`;
}
