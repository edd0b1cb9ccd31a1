import type { TenantId } from "../model/ids.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import type { Cancel, Runtime } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { QuotaRow } from "../store/tables/quotas.ts";
import { defaultQuotas, type QuotaKind, type QuotaValues, quotaKinds } from "./quota-kinds.ts";

/** Whose quota it is: a client's, or with a client id of null the tenant's own. */
export interface QuotaOwner {
  readonly tenantId: TenantId;
  readonly clientId: string | null;
}

/** Undefined members stay unchanged; null resets to the default. */
export type QuotaChange = Readonly<Partial<Record<QuotaKind, number | null>>>;

export interface QuotaSettingParts {
  readonly store: Store<Pick<Transaction, "quotas">>;
  readonly runtime: Runtime;
}

/** How often a node reads the quotas again on a shared store, if no hint arrives. */
const pollMs = 2_000;

/** The quotas that operators have set, in memory. A change on another node arrives with a hint, or within two seconds. */
export class QuotaSettings {
  readonly #parts: QuotaSettingParts;
  readonly #task: BackgroundTask;
  #ofOwner: ReadonlyMap<string, Readonly<Record<string, number>>> = new Map();
  #version = 0;
  #next: Cancel | undefined;
  #reading: Promise<void> | undefined;
  #isStopped = false;

  constructor(parts: QuotaSettingParts) {
    this.#parts = parts;
    this.#task = new BackgroundTask("quotas", "the quotas could not be read; those read before stay", parts.runtime);
  }

  /** Rises with each change, so that callers can keep what they have read. */
  get version(): number {
    return this.#version;
  }

  /** What one of so many nodes admits: its share of a quota that was set. A default protects a node, and is not divided. */
  valuesOf(owner: QuotaOwner, liveNodes = 1): QuotaValues {
    const defaults = defaultQuotas(owner.clientId === null ? "tenant" : "client");
    const quotas = Object.entries(this.#ofOwner.get(keyOf(owner)) ?? {});
    const shares = quotas.map(([kind, quota]) => [kind, Math.max(1, Math.floor(quota / liveNodes))]);
    return { ...defaults, ...Object.fromEntries(shares) };
  }

  async start(): Promise<void> {
    await this.#read();
    if (this.#parts.store.isShared) this.#schedule();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#next?.();
    await this.#reading;
  }

  /** The quotas may have changed. */
  hinted(): void {
    if (!this.#isStopped) void this.#read();
  }

  /** The values that are set for the owner, without defaults, as the store has them. */
  async stored(owner: QuotaOwner): Promise<QuotaChange> {
    const rows = await this.#parts.store.read((tx) => tx.quotas.of(owner));
    return Object.fromEntries(rows.filter(isKnown).map(({ kind, value }) => [kind, value]));
  }

  /** Resolves when the change is durable and in use on this node. */
  async change(owner: QuotaOwner, change: QuotaChange): Promise<void> {
    await this.#parts.store.transaction(async (tx) => {
      for (const kind of quotaKinds) {
        const value = change[kind];
        if (value === null) await tx.quotas.reset(owner, kind);
        else if (value !== undefined) await tx.quotas.set({ ...owner, kind, value });
      }
    });
    await this.#reading;
    await this.#read();
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    try {
      const rows = await this.#parts.store.read((tx) => tx.quotas.all());
      const ofOwner = new Map<string, Record<string, number>>();
      for (const row of rows.filter(isKnown)) {
        const key = keyOf(row);
        ofOwner.set(key, { ...ofOwner.get(key), [row.kind]: row.value });
      }
      this.#ofOwner = ofOwner;
      this.#version += 1;
      this.#task.succeeded();
    } catch (error) {
      this.#task.failed(error);
    }
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#next = this.#parts.runtime.after(pollMs, () => {
      void this.#read().finally(() => this.#schedule());
    });
  }
}

/** A later version may know more kinds. */
function isKnown(row: QuotaRow): boolean {
  return quotaKinds.some((kind) => kind === row.kind);
}

function keyOf({ tenantId, clientId }: QuotaOwner): string {
  return `${tenantId} ${clientId ?? ""}`;
}
