import type { Connector, StreamEnd, StreamEndReason, StreamListener } from "../../src/ecosystem/connector.ts";
import type { Account } from "../../src/model/account.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../../src/model/errors.ts";
import type { Faults } from "./faults.ts";
import type { HomeTruth } from "./history.ts";
import type { Home } from "./home.ts";
import type { Process, Scheduler } from "./scheduler.ts";
import { clearSnapshot, incompleteSnapshot } from "./snapshots.ts";
import { standIn } from "./stand-in.ts";

/** What a stream brings: an account (with the home that it shows, if it shows all of it), or that nothing is new. */
type Parcel = { readonly account: Account; readonly home: HomeTruth | undefined } | "unchanged";

/** A node that follows accounts, and hears of each clear one that reaches it. */
export interface UpstreamNode extends Process {
  received(userId: number, home: HomeTruth): void;
}

const watchdogMs = 70_000;

/** The ecosystem: homes that live, tokens that are revoked, and streams that bring whole accounts, or break. */
export class Upstream {
  readonly #scheduler: Scheduler;
  readonly #faults: Faults;
  readonly #homes: readonly Home[];
  readonly #homeOf: readonly number[];
  /** The number of each user's present token; those before it are no longer good. */
  readonly #tokens = new Map<number, number>();
  readonly #streams = new Set<Stream>();

  constructor(scheduler: Scheduler, faults: Faults, homes: readonly Home[], homeOf: readonly number[]) {
    this.#scheduler = scheduler;
    this.#faults = faults;
    this.#homes = homes;
    this.#homeOf = homeOf;
  }

  home(userId: number): Home {
    return this.#homes[this.#homeOf[userId - 1]!]!;
  }

  token(userId: number): string {
    return `${userId}.${this.#tokens.get(userId) ?? 0}`;
  }

  openStreams(userId: number): number {
    return [...this.#streams].filter((stream) => stream.userId === userId && !stream.process.isDead).length;
  }

  /** Something happens in a home, and everyone who follows it hears of it. */
  change(index: number): void {
    const home = this.#homes[index]!;
    this.#scheduler.note(`home ${index}: ${home.change()}`);
    if (home.isOverLimit) this.#faults.count("account over the limit");
    for (const stream of this.#streamsOf(index)) this.#send(stream);
  }

  /** A last change that everyone hears of whole. */
  settle(index: number): void {
    this.#homes[index]!.rename();
    for (const stream of this.#streamsOf(index)) this.#send(stream);
  }

  revoke(userId: number): void {
    this.#scheduler.note(`the token of user ${userId} is revoked`);
    this.#tokens.set(userId, (this.#tokens.get(userId) ?? 0) + 1);
    for (const stream of [...this.#streams]) if (stream.userId === userId) this.#end(stream, "unauthorized");
  }

  /** A node is dead: its connections are gone with it. */
  disconnect(node: Process): void {
    for (const stream of [...this.#streams]) if (stream.process === node) this.#streams.delete(stream);
  }

  /** The connector of one node. */
  connectorFor(node: UpstreamNode): Connector {
    return standIn<Connector>("the connector", {
      name: "nest",
      displayName: "Nest account",
      capabilities: { away: true, alarms: true, fanTimer: true, fanNeedsHome: true, tokenRefresh: false },
      read: (token) => this.#read(node, token),
      follow: (token, listener, signal) => this.#follow(node, token, listener, signal),
      pauseMs: (_, failures, random) => Math.min(15_000, 250 * 2 ** failures) * (0.5 + random() / 2),
    });
  }

  #read(node: UpstreamNode, token: string): Promise<Account> {
    return new Promise((resolve, reject) => {
      this.#scheduler.after(this.#delayMs(), node, `read of ${token} answered`, () => {
        const userId = Number.parseInt(token, 10);
        if (token !== this.token(userId)) return reject(new EcosystemRefused("The token isn't good."));
        if (this.#faults.strikes("read failed", 0.1)) return reject(new EcosystemUnreachable("No answer."));
        resolve(this.#look(this.home(userId).truth()).account);
      });
    });
  }

  #follow(node: UpstreamNode, token: string, listener: StreamListener, signal: AbortSignal): Promise<StreamEnd> {
    return new Promise((resolve) => {
      const userId = Number.parseInt(token, 10);
      const stream = new Stream(this.#scheduler, node, userId, listener, resolve);
      if (signal.aborted) return stream.end("stopped");
      signal.addEventListener("abort", () => this.#end(stream, "stopped"), { once: true });
      this.#scheduler.after(this.#delayMs(), node, `stream of ${token} connects`, () => {
        if (stream.hasEnded) return;
        if (token !== this.token(userId)) return stream.end("unauthorized");
        if (this.#faults.strikes("stream refused", 0.1)) return stream.end("refused");
        if (this.#faults.strikes("stream unreachable", 0.1)) return stream.end("unreachable");
        this.#streams.add(stream);
        this.#send(stream);
      });
    });
  }

  #send(stream: Stream): void {
    if (this.#faults.strikes("stream dropped", 0.015)) this.#end(stream, "closed");
    if (this.#faults.strikes("stream malformed", 0.004)) this.#end(stream, "malformed");
    if (stream.hasEnded) return;
    if (!stream.isSilent && this.#faults.strikes("stream silent", 0.006)) {
      stream.isSilent = true;
      this.#scheduler.after(watchdogMs, stream.process, "watchdog", () => this.#end(stream, "silent"));
    }
    const home = this.home(stream.userId).truth();
    stream.push(this.#look(home));
    if (!this.#faults.strikes("snapshot repeated", 0.1)) return;
    stream.push(this.#scheduler.dice.chance(0.5) ? "unchanged" : this.#look(home));
  }

  #look(home: HomeTruth): { readonly account: Account; readonly home: HomeTruth | undefined } {
    return this.#faults.strikes("snapshot incomplete", 0.08)
      ? { account: incompleteSnapshot(home, this.#scheduler.dice), home: undefined }
      : { account: clearSnapshot(home), home };
  }

  #end(stream: Stream, reason: StreamEndReason): void {
    this.#streams.delete(stream);
    stream.end(reason);
  }

  #streamsOf(index: number): Stream[] {
    return [...this.#streams].filter(({ userId }) => this.#homeOf[userId - 1] === index);
  }

  #delayMs(): number {
    const { dice } = this.#scheduler;
    return dice.chance(0.05) ? dice.between(500, 5_000) : dice.between(1, 80);
  }
}

/** One connection: what is sent arrives in order, each after a while of its own. */
class Stream {
  readonly process: UpstreamNode;
  readonly userId: number;
  isSilent = false;
  hasEnded = false;
  readonly #scheduler: Scheduler;
  readonly #listener: StreamListener;
  readonly #resolve: (end: StreamEnd) => void;
  readonly #underWay: Parcel[] = [];

  constructor(
    scheduler: Scheduler,
    process: UpstreamNode,
    userId: number,
    listener: StreamListener,
    resolve: (end: StreamEnd) => void,
  ) {
    this.#scheduler = scheduler;
    this.process = process;
    this.userId = userId;
    this.#listener = listener;
    this.#resolve = resolve;
  }

  push(parcel: Parcel): void {
    if (this.isSilent) return;
    this.#underWay.push(parcel);
    if (this.#underWay.length === 1) this.#deliverNext();
  }

  end(reason: StreamEndReason): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.#underWay.length = 0;
    this.#scheduler.after(0, this.process, `stream of user ${this.userId} ends: ${reason}`, () =>
      this.#resolve({ reason, detail: `the stream ended (${reason})` }),
    );
  }

  #deliverNext(): void {
    const { dice } = this.#scheduler;
    const delayMs = dice.chance(0.1) ? dice.between(50, 1_500) : dice.between(0, 40);
    this.#scheduler.after(delayMs, this.process, `stream of user ${this.userId} delivers`, () => {
      const parcel = this.#underWay.shift();
      if (parcel === undefined || this.hasEnded) return;
      if (parcel === "unchanged") this.#listener.unchanged();
      else {
        if (parcel.home) this.process.received(this.userId, parcel.home);
        this.#listener.account(parcel.account);
      }
      if (this.#underWay.length > 0) this.#deliverNext();
    });
  }
}
