import type { LogLine } from "../model/log-line.ts";
import { LineMemory } from "./line-memory.ts";
import { matches, newest, type RecordedLine, type RequestFilter, type RequestRecord } from "./request-record.ts";

/** What a record takes over of a finished request. */
export interface FinishedRequest {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  readonly operation: string | undefined;
  readonly status: number;
  readonly code: string | undefined;
  readonly tookMs: number;
  readonly bytes: number;
  readonly caller:
    | {
        readonly tenantId?: number | undefined;
        readonly userId?: number | undefined;
        readonly clientId?: string | undefined;
      }
    | undefined;
  readonly source: string;
  readonly lines?: readonly LogLine[];
}

/** Records on one node: of one tenant, of all tenants, and how many tenants have records at once. */
const recordBounds = { perTenant: 1_000, inAll: 20_000, tenants: 2_000 };

/** The key of requests whose tenant is unknown. Ids of tenants begin with 1. */
const noTenant = 0;

/**
 * The recent requests to this node, in memory. All tenants with records have the same share, so a noisy tenant
 * overwrites only its own oldest records. Requests without a tenant have one share too.
 */
export class RecentRequests {
  readonly #nowMs: () => number;
  readonly #bounds: typeof recordBounds;
  readonly #rings = new Map<number, Ring>();
  readonly #lines: LineMemory;
  /** How many records each tenant may have. It changes with each new tenant. */
  #share = 0;

  constructor(nowMs: () => number, bounds = recordBounds, lines = new LineMemory()) {
    this.#nowMs = nowMs;
    this.#bounds = bounds;
    this.#lines = lines;
  }

  /** This runs for each request, so it creates no object once the ring of the tenant is full. */
  add(request: FinishedRequest): void {
    const { caller } = request;
    const tenantId = caller?.tenantId ?? null;
    const ring = this.#rings.get(tenantId ?? noTenant) ?? this.#newRing(tenantId ?? noTenant);
    const entry = ring.next(this.#share);
    entry.timeMs = this.#nowMs();
    entry.requestId = request.requestId;
    entry.method = request.method;
    entry.route = request.route;
    entry.operation = request.operation ?? null;
    entry.status = request.status;
    entry.code = request.code ?? null;
    entry.tookMs = request.tookMs;
    entry.bytes = request.bytes;
    entry.tenantId = tenantId;
    entry.userId = caller?.userId ?? null;
    entry.clientId = caller?.clientId ?? null;
    entry.source = request.source;
    this.#lines.put(entry, request.lines);
  }

  /** Copies of the newest matching records, newest first. Only a record that is looked for by its id has its lines. */
  find(filter: RequestFilter, limit: number): readonly RequestRecord[] {
    const ofTenant = filter.tenantId === undefined ? undefined : this.#rings.get(filter.tenantId);
    const rings = filter.tenantId === undefined ? [...this.#rings.values()] : ofTenant ? [ofTenant] : [];
    const found = rings.flatMap((ring) => ring.newestFirst().filter((record) => matches(record, filter)));
    return newest(found, limit).map(({ kept, ...record }) =>
      filter.requestId === undefined ? record : { ...record, lines: kept.map(recordedLine) },
    );
  }

  #newRing(tenantId: number): Ring {
    if (this.#rings.size >= this.#bounds.tenants) this.#rings.delete(this.#longestSilent());
    const ring = new Ring();
    this.#rings.set(tenantId, ring);
    this.#share = Math.min(this.#bounds.perTenant, Math.floor(this.#bounds.inAll / this.#rings.size));
    for (const other of this.#rings.values()) other.shrinkTo(this.#share);
    return ring;
  }

  /** The tenant whose last request is the oldest. */
  #longestSilent(): number {
    let silent = noTenant;
    let oldestMs = Number.POSITIVE_INFINITY;
    for (const [tenantId, ring] of this.#rings) {
      if (ring.lastMs >= oldestMs) continue;
      oldestMs = ring.lastMs;
      silent = tenantId;
    }
    return silent;
  }
}

function recordedLine({ timeMs, level, sentence, fields }: LogLine): RecordedLine {
  return { timeMs, level, sentence, fields: typeof fields === "string" ? fields : JSON.stringify(fields) };
}

type RingEntry = { -readonly [Member in keyof Omit<RequestRecord, "lines">]: RequestRecord[Member] } & {
  kept: readonly LogLine[];
};

function emptyEntry(): RingEntry {
  return {
    timeMs: 0,
    requestId: "",
    method: "",
    route: "",
    operation: null,
    status: 0,
    code: null,
    tookMs: 0,
    bytes: 0,
    tenantId: null,
    userId: null,
    clientId: null,
    source: "",
    kept: [],
  };
}

/** The newest records of one tenant. */
class Ring {
  #entries: RingEntry[] = [];
  /** The oldest entry once the ring is full. */
  #oldest = 0;

  /** The entry for the next record: a new one up to the share, then the oldest one. */
  next(share: number): RingEntry {
    if (this.#entries.length < share) {
      const entry = emptyEntry();
      this.#entries.push(entry);
      return entry;
    }
    const entry = this.#entries[this.#oldest]!;
    this.#oldest = this.#oldest + 1 === this.#entries.length ? 0 : this.#oldest + 1;
    return entry;
  }

  newestFirst(): readonly RingEntry[] {
    return [...this.#entries.slice(this.#oldest), ...this.#entries.slice(0, this.#oldest)].reverse();
  }

  get lastMs(): number {
    return this.#entries.at(this.#oldest - 1)?.timeMs ?? 0;
  }

  shrinkTo(share: number): void {
    if (this.#entries.length <= share) return;
    this.#entries = this.newestFirst().slice(0, share).reverse();
    this.#oldest = 0;
  }
}
