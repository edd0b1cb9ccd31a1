import type { AddedDevice } from "../devices/device-addition.ts";
import { tooManyBytes } from "../devices/growth.ts";
import { LimitReached, NotFound } from "../model/errors.ts";
import type { TenantId, UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { Transaction } from "../store/seam.ts";
import type { LockedUsers } from "../store/tables/users.ts";
import { tooManyOfTenant, tooManyOfUser } from "./operator-devices.ts";
import type { SizedDevice } from "./sized-device.ts";

type LimitTables = Pick<Transaction, "devices" | "attributeUsage">;

/**
 * Checks the limits for all devices that one transaction adds. Each user's devices and bytes are counted once, because
 * a count reads up to 10,000 rows and all writers of SQLite wait for it. The transaction holds the users' locks.
 */
export class AdditionLimits {
  readonly #tx: LimitTables;
  readonly #tenantId: TenantId;
  #remainingInTenant: number;
  readonly #devices = new Map<UserId, number>();
  readonly #bytes = new Map<UserId, number>();
  readonly #types = new Map<string, number>();

  constructor(tx: LimitTables, tenantId: TenantId, remainingInTenant: number) {
    this.#tx = tx;
    this.#tenantId = tenantId;
    this.#remainingInTenant = remainingInTenant;
  }

  /** Counts the device, and returns the id of its type. Throws LimitReached when it exceeds a limit. */
  async admit({ userId, typeName, changes = [], growth: { bytes } }: SizedDevice): Promise<number> {
    if (this.#remainingInTenant <= 0) throw tooManyOfTenant();
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
    this.#remainingInTenant -= 1;
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

/** Throws a refusal unless the device can be added. The transaction has locked the users. */
export async function checkAddition(
  device: SizedDevice,
  users: LockedUsers,
  additionLimits: AdditionLimits,
): Promise<AddedDevice> {
  if (!users.ids.has(device.userId)) throw new NotFound("User does not exist.");
  return { ...device, typeId: await additionLimits.admit(device) };
}
