import type { Home } from "../../home/home.ts";
import type { JsonObject } from "../../runtime/json/untrusted-json.ts";
import type { Cancel, Runtime } from "../../runtime/runtime.ts";
import type { StreamEnd, StreamEndReason, StreamListener } from "../connector.ts";
import type { AccountCalls, FollowedLink, MessageReader } from "../feed.ts";
import { AccountState, type ListMark, storedStructures } from "./account-state.ts";
import { readEvent } from "./events.ts";
import { type ListOutcome, ListPlanner, type NeededList } from "./list-planner.ts";
import { type AccountList, callsOfList, type ListParts, listAccount } from "./lists.ts";
import type { TargetRange } from "./thermostat-thing.ts";

export interface FollowedParts {
  readonly lists: ListParts;
  readonly range: TargetRange;
  readonly runtime: Runtime;
  /** How often an account is listed although no event calls for it. */
  readonly relistMs: number;
  /** How long a list may wait for its turn within the rate limit. */
  readonly patienceMs: number;
}

/** An account whose requested list waits longer for the rate limit is not current. */
const freshWithoutListMs = 15_000;
const postponedList = {
  reason: "a list that events call for waits for Google's rate limit",
  forMs: freshWithoutListMs,
};

/** The account and structures of a recent list, which save the first list one call. */
export type KnownAccount = Pick<AccountList, "account" | "structures">;

/**
 * Follows one account: it lists the account, then applies the events that are stored for the link. The account is listed
 * again when an event calls for it, and at long intervals, because events can be lost.
 */
export class FollowedAccount implements MessageReader {
  readonly #parts: FollowedParts;
  readonly #link: FollowedLink;
  readonly #listener: StreamListener;
  readonly #state: AccountState;
  readonly #planner: ListPlanner;
  readonly #stopping = new AbortController();
  #account = "";
  /** The last list was requested: the doubts that follow it need no other list. */
  #wasListRequested = false;
  /** The last time at which a list agreed with the events, and how many events had arrived by then. */
  #proof = { elapsedMs: 0, arrivals: 0 };
  #end: StreamEnd | undefined;
  #resolveEnd: (end: StreamEnd) => void = () => undefined;
  readonly #ended = new Promise<StreamEnd>((resolve) => {
    this.#resolveEnd = resolve;
  });

  constructor(parts: FollowedParts, link: FollowedLink, listener: StreamListener) {
    this.#parts = parts;
    this.#link = link;
    this.#listener = listener;
    this.#state = new AccountState(parts.range);
    this.#planner = new ListPlanner({ ...parts, list: (needed, isCheck) => this.#listAgain(needed, isCheck) });
  }

  /** Whether this account is followed with that token. */
  isFollowedWith(token: string): boolean {
    return this.#account !== "" && this.#link.access() === token;
  }

  /** Google's id of the account; empty before the first list. */
  get account(): string {
    return this.#account;
  }

  get calls(): AccountCalls {
    return this.#link.calls;
  }

  /** Resolves when the account is no longer followed. Never rejects. */
  async run(signal: AbortSignal, known?: KnownAccount): Promise<StreamEnd> {
    const stop = () => this.#finish("stopped", "stopped by us");
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    let close: (() => void) | undefined;
    try {
      if (!this.#end) close = await this.#begin(known);
    } catch (error) {
      this.#finish("malformed", "the account could not be taken", { error });
    }
    const end = await this.#ended;
    signal.removeEventListener("abort", stop);
    close?.();
    return end;
  }

  /** Takes a list that was requested at the mark, beside the stream. */
  take(list: AccountList, mark: ListMark): Home {
    this.#takes(list, mark, false);
    return this.#state.home();
  }

  /** The token of this account was revoked. */
  revoked(): void {
    this.#finish("unauthorized", "the token was revoked");
  }

  get mark(): ListMark {
    return this.#state.mark;
  }

  async handle(contents: readonly (string | undefined)[]): Promise<boolean> {
    const events = contents.flatMap((content) => (content === undefined ? [] : (readEvent(content) ?? [])));
    if (contents.includes(undefined)) this.#planner.request("all");
    for (const event of events.sort((a, b) => a.timeMs - b.timeMs)) {
      if (this.#end) return false;
      this.#planner.request(this.#state.apply(event));
      // What only a list can settle is not confirmed.
      this.#report(!this.#planner.isUnsettled);
    }
    return this.#listener.stored();
  }

  quiet(): void {
    if (!this.#end && !this.#planner.isUnsettled) this.#listener.unchanged();
  }

  silent(reason: string, silentMs: number): void {
    this.#finish("silent", `the feed of events gives no answer: ${reason}`, { unheardMs: silentMs });
  }

  /** Lists the account and begins to read its messages. Returns how to end that. */
  async #begin(known: KnownAccount | undefined): Promise<(() => void) | undefined> {
    const { messages, calls } = this.#link;
    const { limits } = this.#parts.lists;
    const { account, silence } = await messages.state();
    if (silence !== undefined) {
      this.#finish("unreachable", `the feed of events gives no answer: ${silence}`);
      return undefined;
    }
    // The account is assigned before the list is made: messages that arrive in between would not be stored otherwise.
    const assigned = known?.account ?? account;
    if (assigned !== undefined && assigned !== account) await messages.assign(assigned);
    if (known) await calls.count(callsOfList(undefined), limits);
    const stored = await this.#link.storedThings();
    // After a change of the owner node the names of the structures are stored: they need no list.
    const structures = known?.structures ?? storedStructures(stored);
    let list = await this.#firstList(structures);
    if (list && list.account !== assigned) {
      await messages.assign(list.account);
      await calls.count(callsOfList(structures), limits);
      list = await this.#firstList(undefined);
    }
    if (!list || this.#end) return undefined;
    this.#account = list.account;
    this.#state.seed(stored, list);
    this.#state.list(list);
    this.#prove();
    this.#report(true);
    this.#planner.start();
    if (this.#state.lacksStructures) this.#planner.request("all");
    return messages.read(this);
  }

  async #firstList(structures: readonly JsonObject[] | undefined): Promise<AccountList | undefined> {
    const list = await this.#list(structures);
    if (!("end" in list)) return list;
    this.#finish(list.end.reason, list.end.detail);
    return undefined;
  }

  #list(
    structures: readonly JsonObject[] | undefined,
    postponed?: () => void,
  ): Promise<AccountList | { readonly end: StreamEnd }> {
    const { lists, patienceMs } = this.#parts;
    const options = {
      patienceMs,
      calls: this.#link.calls,
      ...(structures && { structures }),
      ...(postponed && { postponed }),
    };
    return listAccount(lists, this.#link.access(), options, this.#stopping.signal);
  }

  async #listAgain(needed: Exclude<NeededList, "none">, isCheck: boolean): Promise<ListOutcome> {
    if (needed === "doubts" && this.#wasListRequested) {
      this.#state.settleDoubts();
      this.#report(!this.#planner.isRequested);
      this.#endDoubt();
      return "listed";
    }
    let cancelDoubt: Cancel | undefined;
    const postponed = () => {
      cancelDoubt ??= this.#parts.runtime.after(freshWithoutListMs, () => this.#listener.doubtful?.(postponedList));
    };
    try {
      const { mark, structures } = this.#state;
      const list = await this.#list(needed === "all" ? undefined : structures, isCheck ? undefined : postponed);
      if (this.#end) return "over";
      if ("end" in list) {
        // Without a list the events still tell the changes. Only a refused token ends the stream.
        if (list.end.reason === "unauthorized") this.#finish(list.end.reason, list.end.detail);
        return this.#end ? "over" : "failed";
      }
      if (list.account !== this.#account) this.#finish("closed", "the token belongs to another account now");
      else this.#compare(list, mark, isCheck);
      this.#endDoubt();
      return this.#end ? "over" : "listed";
    } catch (error) {
      this.#finish("malformed", "a list could not be taken", { error });
      return "over";
    } finally {
      cancelDoubt?.();
    }
  }

  #endDoubt(): void {
    if (!this.#planner.isRequested) this.#listener.doubtful?.(undefined);
  }

  /** Takes a list. If it shows changes although no event has arrived since the last proof, events were lost. */
  #compare(list: AccountList, mark: ListMark, isCheck: boolean): void {
    this.#takes(list, mark, !isCheck);
    const hasChanged = this.#report(!this.#planner.isRequested);
    const { elapsedMs, arrivals: proven } = this.#proof;
    if (isCheck && hasChanged && this.#state.arrivals === proven) {
      const unheardMs = Math.ceil(this.#parts.runtime.elapsedMs() - elapsedMs);
      this.#finish("silent", "the home has changed, but no event has arrived", { unheardMs });
    }
    this.#prove();
  }

  #takes(list: AccountList, mark: ListMark, isRequested: boolean): void {
    this.#wasListRequested = isRequested;
    if (this.#state.list(list, mark)) this.#planner.request("doubts");
  }

  /** Reports the home if it has changed, which is returned; else, if all is settled, that it has not. */
  #report(isSettled: boolean): boolean {
    let hasChanged = false;
    this.#state.report({
      home: (home) => {
        hasChanged = true;
        this.#listener.home(home);
      },
      unchanged: () => {
        if (isSettled) this.#listener.unchanged();
      },
    });
    return hasChanged;
  }

  #prove(): void {
    this.#proof = { elapsedMs: this.#parts.runtime.elapsedMs(), arrivals: this.#state.arrivals };
  }

  #finish(reason: StreamEndReason, detail: string, more: Pick<StreamEnd, "unheardMs" | "error"> = {}): void {
    if (this.#end) return;
    this.#end = { reason, detail, ...more };
    this.#planner.stop();
    this.#stopping.abort();
    this.#resolveEnd(this.#end);
  }
}
