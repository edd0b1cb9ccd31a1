import type { Commit, CommitRequest, CommitTables, DeviceUpdate } from "../../src/devices/commit.ts";
import type { Mirrored } from "../../src/federation/lane.ts";
import { encodeNotices } from "../../src/federation/notices.ts";
import type { Account } from "../../src/model/account.ts";
import type { AttributeNumber } from "../../src/model/attribute-names.ts";
import { blankValues } from "../../src/model/attribute-values.ts";
import { assignIndexes, emptyIndexMap } from "../../src/model/index-map.ts";
import { mirror } from "../../src/model/mirror.ts";
import { decodeIndexMap } from "../../src/model/stored-index-map.ts";
import { settled } from "./moved-runtime.ts";

interface WaitingCommit {
  readonly request: CommitRequest;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The store as a lane sees it: a commit takes effect at once, or, while it is held, when the test says so. */
export class HeldStore {
  isHeld = false;
  /** All that was asked for, whether or not it took effect. */
  readonly asked: CommitRequest[] = [];
  loads = 0;
  /** What the next look at the store meets instead of an answer. */
  loadFails: Error | undefined;
  #stored: Mirrored = { indexMap: emptyIndexMap, notices: "", values: blankValues };
  readonly #committed: CommitRequest[] = [];
  readonly #waiting: WaitingCommit[] = [];

  /** As if that account had been stored before anything began. */
  fill(account: Account): Mirrored {
    const { map, overLimit } = assignIndexes(emptyIndexMap, account);
    const values = mirror(account, map, blankValues);
    this.#stored = { indexMap: map, notices: encodeNotices(overLimit, account, map), values };
    return this.#stored;
  }

  readonly commit: Commit = async (request) => {
    this.asked.push(request);
    if (this.isHeld) {
      await new Promise<void>((resolve, reject) => this.#waiting.push({ request, resolve, reject }));
    } else await this.#take(request);
    return [];
  };

  readonly load = async (): Promise<Mirrored> => {
    this.loads += 1;
    const failure = this.loadFails;
    this.loadFails = undefined;
    if (failure) throw failure;
    return this.#stored;
  };

  /** Lets the commit through that waits. */
  async letThrough(): Promise<void> {
    const { request, resolve } = this.#next();
    await this.#take(request);
    resolve();
    await settled();
  }

  /** Lets all through, those too that come because of them. */
  async letAllThrough(): Promise<void> {
    while (this.#waiting.length > 0) await this.letThrough();
    this.isHeld = false;
  }

  /** Fails the commit that waits; it may have taken effect all the same. */
  async fail(error: Error, { hasTakenEffect = false } = {}): Promise<void> {
    const { request, reject } = this.#next();
    if (hasTakenEffect) await this.#take(request);
    reject(error);
    await settled();
  }

  /** The values that one attribute was given, commit by commit. */
  history(attribute: AttributeNumber): (string | null)[] {
    return this.#committed.flatMap((request) =>
      changesOf(request).flatMap(({ key, value }) => (key === attribute ? [value] : [])),
    );
  }

  /** What one attribute is now. */
  value(attribute: AttributeNumber): string | null | undefined {
    return this.#stored.values[attribute];
  }

  #next(): WaitingCommit {
    const next = this.#waiting.shift();
    if (!next) throw new Error("no commit is waiting");
    return next;
  }

  async #take(request: CommitRequest): Promise<void> {
    this.#committed.push(request);
    const values = [...this.#stored.values];
    for (const { key, value } of changesOf(request)) values[key as AttributeNumber] = value;
    this.#stored = { ...this.#stored, values };
    const setMirror: CommitTables["links"]["setMirror"] = async (_userId, _deviceId, indexMap, notices) => {
      this.#stored = { ...this.#stored, indexMap: decodeIndexMap(indexMap), notices };
    };
    await request.also?.({ links: { setMirror } } as CommitTables);
  }
}

function changesOf({ updates }: CommitRequest) {
  return (updates as readonly DeviceUpdate[]).flatMap(({ changes }) => changes);
}
