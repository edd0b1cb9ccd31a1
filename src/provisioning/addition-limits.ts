import { tooManyBytes } from "../devices/growth.ts";
import { LimitReached } from "../model/errors.ts";
import type { TenantId, UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { Transaction } from "../store/seam.ts";
import { tooManyOfTenant, tooManyOfUser } from "./inventory.ts";
import type { SizedDevice } from "./sized-device.ts";

type LimitTables = Pick<Transaction, "devices" | "attributeUsage">;

/**
 * Checks the limits for all devices that one transaction adds. Each user's devices and bytes are counted once, because
 * a count reads up to 10,000 rows and all writers of SQLite wait for it. The transaction holds the users' locks.
 */
export class AdditionLimits {
  readonly #tx: LimitTables;
  readonly #tenantId: TenantId;
  #leftInTenant: number;
  readonly #devices = new Map<UserId, number>();
  readonly #bytes = new Map<UserId, number>();
  readonly #types = new Map<string, number>();

  constructor(tx: LimitTables, tenantId: TenantId, leftInTenant: number) {
    this.#tx = tx;
    this.#tenantId = tenantId;
    this.#leftInTenant = leftInTenant;
  }

  /** Counts the device, and returns the id of its type. Throws LimitReached when it exceeds a limit. */
  async admit({ userId, typeName, changes = [], growth: { bytes } }: SizedDevice): Promise<number> {
    if (this.#leftInTenant <= 0) throw tooManyOfTenant();
    if (changes.length > limits.attributesPerDevice) {
      throw new LimitReached(
        "attributesPerDevice",
        `The device would have ${changes.length} attributes and may have ${limits.attributesPerDevice}. Add it with fewer.`,
      );
    }
    const devices = this.#devices.get(userId) ?? (await this.#tx.devices.countOwn(userId, limits.devicesPerUser));
    if (devices >= limits.devicesPerUser) throw tooManyOfUser(userId);
    // A device without attributes needs no count of bytes.
    const used = bytes === 0 ? 0 : (this.#bytes.get(userId) ?? (await this.#tx.attributeUsage.bytesOfUser(userId)));
    if (used + bytes > limits.attributeBytesPerUser) throw tooManyBytes(used, bytes);
    const typeId = await this.#typeId(typeName);
    this.#leftInTenant -= 1;
    this.#devices.set(userId, devices + 1);
    if (bytes > 0) this.#bytes.set(userId, used + bytes);
    return typeId;
  }

  async #typeId(name: string): Promise<number> {
    const known = this.#types.get(name) ?? (await this.#tx.devices.findType(name)) ?? (await this.#addType(name));
    this.#types.set(name, known);
    return known;
  }

  async #addType(name: string): Promise<number> {
    const types = await this.#tx.devices.countTypes(this.#tenantId);
    if (types >= limits.deviceTypesPerTenant) {
      throw new LimitReached(
        "deviceTypesPerTenant",
        `The clients of this tenant have named ${types} device types and may name ${limits.deviceTypesPerTenant}. Use a type that exists.`,
      );
    }
    return this.#tx.devices.addType(name, this.#tenantId);
  }
}
