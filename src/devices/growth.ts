import { LimitReached } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { textBytes } from "../model/text-bytes.ts";
import type { Transaction } from "../store/seam.ts";
import type { CountedUsage } from "../store/tables/attribute-usage.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import type { Growth } from "../store/tables/devices.ts";

type UsageTables = Pick<Transaction, "attributeUsage">;

/**
 * The stored values of the attributes to be written; null for an erased one. Attributes that the device doesn't have
 * are missing.
 */
export type PresentValues = ReadonlyMap<AttributeKey, string | null>;

interface Change {
  readonly key: AttributeKey;
  readonly value: string | null;
}

/** How much these changes add to a device that is not virtual. Of two changes of one attribute the last counts. */
export function growthOf(changes: readonly Change[], present: PresentValues): Growth {
  let names = 0;
  let bytes = 0;
  let isErasing = false;
  for (const [key, value] of new Map(changes.map((change) => [change.key, change.value]))) {
    if (!present.has(key)) {
      names += 1;
      bytes += textBytes(String(key));
    }
    bytes += textBytes(value) - textBytes(present.get(key));
    isErasing ||= value === null;
  }
  return { names, bytes, isErasing };
}

/**
 * Why these changes would exceed a limit of the user's devices; undefined when they fit. Changes that don't grow
 * anything are never refused, so a device beyond a limit can still be written and erased. The caller holds the user's
 * lock.
 */
export async function refusalOf(
  tx: UsageTables,
  userId: UserId,
  growths: ReadonlyMap<DeviceId, Growth>,
): Promise<LimitReached | undefined> {
  let bytes = 0;
  let uncounted = 0;
  for (const [deviceId, growth] of growths) {
    bytes += growth.bytes;
    if (growth.names === 0 && growth.bytes <= 0) continue;
    // Usage is also read for growth in bytes alone: a device that was never counted would add nothing to the sum below.
    const usage = await usageOf(tx, userId, deviceId);
    if (growth.names > 0 && usage.names + growth.names > limits.attributesPerDevice) {
      return tooManyNames(deviceId, usage.names);
    }
    if (!usage.isWhole) uncounted += usage.bytes;
  }
  if (bytes <= 0) return undefined;
  const used = (await tx.attributeUsage.bytesOfUser(userId)) + uncounted;
  return used + bytes > limits.attributeBytesPerUser ? tooManyBytes(used, bytes) : undefined;
}

/**
 * Checks the number of names before any value is read. A write of more names than the limit can only pass when the
 * device had as many names before the limit existed.
 */
export async function earlyRefusalOf(
  tx: UsageTables,
  userId: UserId,
  deviceId: DeviceId,
  changes: readonly Change[],
): Promise<LimitReached | undefined> {
  const written = new Set(changes.map(({ key }) => key)).size;
  if (written <= limits.attributesPerDevice) return undefined;
  const { names } = await usageOf(tx, userId, deviceId);
  return written > names ? tooManyNames(deviceId, names) : undefined;
}

async function usageOf(tx: UsageTables, userId: UserId, deviceId: DeviceId): Promise<CountedUsage> {
  const counted = await tx.attributeUsage.ofDevice(userId, deviceId);
  return counted ? { ...counted, isWhole: true } : tx.attributeUsage.count(userId, deviceId);
}

function tooManyNames(deviceId: DeviceId, names: number): LimitReached {
  return new LimitReached(
    "attributesPerDevice",
    `Device ${deviceId} has ${names} attributes, erased ones included, and may have ${limits.attributesPerDevice}. Nothing was written. Write to attributes that the device has.`,
  );
}

export function tooManyBytes(used: number, added: number): LimitReached {
  return new LimitReached(
    "attributeBytesPerUser",
    `The attributes of this user's devices take ${used} bytes and may take ${limits.attributeBytesPerUser}. This write would add ${added}. Nothing was written. Erase attributes or write shorter values.`,
  );
}
