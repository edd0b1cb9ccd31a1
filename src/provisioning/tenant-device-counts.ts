import type { TenantId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { Store, Transaction } from "../store/seam.ts";

/** A count reads an index entry for each device of the tenant, so a count is reused for this long. */
const recountAfterMs = 10_000;
const tenantsRemembered = 1_000;

/**
 * How many devices each tenant has. Between two counts a node adds only its own devices, so several nodes together can
 * exceed the limit by the devices of ten seconds.
 */
export class TenantDeviceCounts {
  readonly #store: Store<Pick<Transaction, "devices">>;
  readonly #elapsedMs: () => number;
  readonly #counted = new Map<TenantId, { readonly atMs: number; devices: number }>();

  constructor(store: Store<Pick<Transaction, "devices">>, elapsedMs: () => number) {
    this.#store = store;
    this.#elapsedMs = elapsedMs;
  }

  /** How many devices the tenant may still add. */
  async left(tenantId: TenantId): Promise<number> {
    const counted = this.#counted.get(tenantId);
    const isRecent = counted && this.#elapsedMs() - counted.atMs < recountAfterMs;
    const { devices } = isRecent ? counted : await this.#count(tenantId);
    return limits.devicesPerTenant - devices;
  }

  added(tenantId: TenantId, devices: number): void {
    const counted = this.#counted.get(tenantId);
    if (counted) counted.devices += devices;
  }

  async #count(tenantId: TenantId) {
    const atMs = this.#elapsedMs();
    const counted = { atMs, devices: await this.#store.read((tx) => tx.devices.countInTenant(tenantId)) };
    this.#counted.delete(tenantId);
    this.#counted.set(tenantId, counted);
    const [oldest] = this.#counted.keys();
    if (oldest !== undefined && this.#counted.size > tenantsRemembered) this.#counted.delete(oldest);
    return counted;
  }
}
