import type { Commit, CommitRequest, CommitTables, DeviceUpdate } from "../../src/devices/commit.ts";
import type { Mirrored } from "../../src/federation/lane.ts";
import { encodeNotices } from "../../src/federation/notices.ts";
import { noThingMarks, type ThingMarks, thingUpdate } from "../../src/federation/thing-marks.ts";
import type { Home } from "../../src/home/home.ts";
import { groupIn, idIn } from "../../src/home/reported-things.ts";
import type { AttributeNumber } from "../../src/virtual-device/attribute-names.ts";
import { blankValues, packValues, unpackValues } from "../../src/virtual-device/attribute-values.ts";
import { assignIndexes, emptyIndexMap } from "../../src/virtual-device/index-map.ts";
import { mirror } from "../../src/virtual-device/mirror.ts";
import { decodeIndexMap } from "../../src/virtual-device/stored-index-map.ts";
import { plainThingIds } from "../home/thing-ids.ts";
import { adasLink } from "./made-links.ts";
import { flushPromises } from "./manual-runtime.ts";

interface WaitingCommit {
  readonly request: CommitRequest;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The store as a lane sees it: a commit takes effect at once, or, while the store is held, when the test says so. */
export class HeldStore {
  isHeld = false;
  /** All commit requests, whether or not they took effect. */
  readonly requests: CommitRequest[] = [];
  loads = 0;
  /** The error of the next read. */
  loadFails: Error | undefined;
  #stored: Mirrored = { indexMap: emptyIndexMap, notices: "", values: [], things: noThingMarks };
  readonly #committed: CommitRequest[] = [];
  readonly #waiting: WaitingCommit[] = [];

  /** Stores an account as the initial state. */
  fill(account: Home): Mirrored {
    const { map, overLimit } = assignIndexes(emptyIndexMap, account);
    const values = mirror(account, map, blankValues);
    const { marks: things } = thingUpdate(account, noThingMarks, adasLink, plainThingIds);
    this.#stored = {
      indexMap: map,
      notices: encodeNotices(overLimit, account, map),
      values: packValues(values),
      things,
    };
    return this.#stored;
  }

  readonly commit: Commit = async (request) => {
    this.requests.push(request);
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

  /** Completes the waiting commit. */
  async complete(): Promise<void> {
    const { request, resolve } = this.#next();
    await this.#take(request);
    resolve();
    await flushPromises();
  }

  /** Completes all commits, including those that follow from them. */
  async completeAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.complete();
    this.isHeld = false;
  }

  /** Fails the waiting commit, which may still have taken effect. */
  async fail(error: Error, { hasTakenEffect = false } = {}): Promise<void> {
    const { request, reject } = this.#next();
    if (hasTakenEffect) await this.#take(request);
    reject(error);
    await flushPromises();
  }

  /** The values of one attribute, commit by commit. */
  history(attribute: AttributeNumber): (string | null)[] {
    return this.#committed.flatMap((request) =>
      changesOf(request).flatMap(({ key, value }) => (key === attribute ? [value] : [])),
    );
  }

  /** The present value of one attribute. */
  value(attribute: AttributeNumber): string | null | undefined {
    return unpackValues(this.#stored.values)[attribute];
  }

  #next(): WaitingCommit {
    const next = this.#waiting.shift();
    if (!next) throw new Error("no commit is waiting");
    return next;
  }

  #marksAfter({ updates }: CommitRequest): ThingMarks {
    const before = [...this.#stored.things];
    const changed = (updates as readonly DeviceUpdate[]).flatMap(({ things = [] }) =>
      things.map((write) => {
        const [key, mark] =
          "isGone" in write
            ? before.find(([, { thingId }]) => thingId === write.thingId)!
            : ([write.reported.key, { ...write.print, thingId: write.thingId }] as const);
        return [groupIn(key)!, idIn(key), { ...mark, isGone: "isGone" in write }] as const;
      }),
    );
    return this.#stored.things.with(changed);
  }

  async #take(request: CommitRequest): Promise<void> {
    this.#committed.push(request);
    const values = [...unpackValues(this.#stored.values)];
    for (const { key, value } of changesOf(request)) values[key as AttributeNumber] = value;
    this.#stored = { ...this.#stored, values: packValues(values), things: this.#marksAfter(request) };
    const setIndexMap: CommitTables["links"]["setIndexMap"] = async (_userId, _deviceId, indexMap, notices) => {
      this.#stored = { ...this.#stored, indexMap: decodeIndexMap(indexMap), notices };
    };
    await request.also?.({ links: { setIndexMap } } as CommitTables);
  }
}

function changesOf({ updates }: CommitRequest) {
  return (updates as readonly DeviceUpdate[]).flatMap(({ changes }) => changes);
}
