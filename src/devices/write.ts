import type { KeepAnswer } from "../idempotency/idempotent-writes.ts";
import type { AccessScope } from "../model/access-scope.ts";
import { countCharacters, forbiddenCharacter, isAttributeName, longestAttributeName } from "../model/attribute-text.ts";
import type { Cause } from "../model/cause.ts";
import {
  BadParameter,
  BadValue,
  NotFound,
  ReadOnlyAttribute,
  UnknownAttribute,
  UnknownDevice,
  ValueTooLarge,
} from "../model/errors.ts";
import type { DeviceId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import { isWritable, type NamedAttribute, parseAttributeName } from "../virtual-device/attribute-names.ts";
import type { AttributeChange, Commit } from "./commit.ts";

/** The new value of an attribute; null or empty erases it. */
export interface AttributeWrite {
  readonly name: string;
  readonly value: string | null;
}

/**
 * Writes within the caller's access scope. For a device outside it the error is the same as for a device that does not
 * exist.
 */
export interface DeviceWriting {
  /**
   * Writes all or nothing; durable when the promise resolves. `keep` stores the answer of a request with an
   * Idempotency-Key in the same transaction. While the write waits for costly patterns, it is dropped when the client
   * has gone, unless it starts an alarm and few alarms of the user wait.
   */
  write(
    accessScope: AccessScope,
    deviceId: DeviceId,
    writes: readonly AttributeWrite[],
    keep?: KeepAnswer,
    disconnected?: AbortSignal,
  ): Promise<void>;
}

export const writeLimits = { nameCharacters: longestAttributeName, valueBytes: 8_192, requestCharacters: 256 };

/** Whether the changes start an alarm of an own device: such a commit goes before all others. */
export type StartsAlarm = (device: DeviceRow, changes: readonly AttributeChange[]) => Promise<boolean>;

export function deviceWriting(
  store: Store<Pick<Transaction, "devices">>,
  commit: Commit,
  startsAlarm: StartsAlarm = async () => false,
): DeviceWriting {
  return {
    async write(accessScope, deviceId, writes, keep, disconnected) {
      const device = await store.read((tx) => tx.devices.within(accessScope, deviceId));
      if (!device) throw new UnknownDevice();
      const changes = checkWrites(device, writes);
      const urgent = await startsAlarm(device, changes);
      try {
        await commit({
          userId: device.userId,
          cause: causeOf(accessScope),
          updates: [{ deviceId, changes }],
          ...{ mayRefuse: true, abandoned: disconnected, ...(urgent && { urgent }) },
          ...(keep && { also: (tx) => keep(tx) }),
        });
      } catch (error) {
        // The device was removed after the read above.
        if (error instanceof NotFound) throw new UnknownDevice();
        throw error;
      }
    },
  };
}

/**
 * Checks what a client, or a client's alert, wants to write to a device. Throws at the first write that is not allowed.
 */
export function checkWrites(
  { isVirtual }: { readonly isVirtual: boolean },
  writes: readonly AttributeWrite[],
): readonly AttributeChange[] {
  return isVirtual ? virtualChanges(writes) : ordinaryChanges(writes);
}

/** The attribute that a name stands for on that device, with or without a value. */
export function attributeKey({ isVirtual }: { readonly isVirtual: boolean }, name: string): AttributeKey {
  return isVirtual ? knownAttribute(name).number : checkName(name);
}

/** An enterprise client is not a user: it acts with the rights of the administrator who registered it. */
function causeOf(accessScope: AccessScope): Cause {
  return accessScope.kind === "user" ? { by: "client", user: accessScope.userId } : { by: "administrator" };
}

/** Errors are checked in this order: unknown names, repeated names, read-only attributes, values. */
function virtualChanges(writes: readonly AttributeWrite[]): readonly AttributeChange[] {
  const named = writes.map(({ name, value }) => ({ ...knownAttribute(name), value }));
  if (new Set(named.map(({ number }) => number)).size < named.length) {
    throw new BadParameter("body", "An attribute must be written once, in one of its spellings.");
  }
  for (const { number, spelling } of named) {
    if (!isWritable(number)) {
      throw new ReadOnlyAttribute(
        `The attribute ${spelling} is read-only. Only fan_timer_active.requestWrite of a thermostat can be written.`,
      );
    }
  }
  return named.map(({ number, spelling, value }) => ({ key: number, value: checkRequest(spelling, value) }));
}

/** The attribute of a linked account with that name; throws UnknownAttribute. */
export function knownAttribute(name: string): NamedAttribute {
  const attribute = parseAttributeName(name);
  if (!attribute) throw new UnknownAttribute(`This device has no attribute ${printableName(name) ?? "of that name"}.`);
  return attribute;
}

function ordinaryChanges(writes: readonly AttributeWrite[]): readonly AttributeChange[] {
  return writes.map(({ name, value }) => ({ key: checkName(name), value: checkValue(name, value) }));
}

function checkRequest(spelling: string, requested: string | null): string | null {
  const value = checkValue(spelling, requested);
  if (value !== null && (countCharacters(value) > writeLimits.requestCharacters || /\p{Cc}/u.test(value))) {
    throw new BadValue(
      `The value of ${spelling} must have at most ${writeLimits.requestCharacters} characters, none of them a control character.`,
    );
  }
  return value;
}

function checkName(name: string): string {
  if (!isAttributeName(name)) {
    throw new BadParameter(
      "name",
      `An attribute's name must have 1 to ${writeLimits.nameCharacters} characters, none of them a control character.`,
    );
  }
  return name;
}

function checkValue(name: string, value: string | null): string | null {
  if (value === null || value === "") return null;
  // A UTF-16 code unit takes three bytes at most.
  const isShort = value.length * 3 <= writeLimits.valueBytes;
  if (!isShort && utf8.encode(value).length > writeLimits.valueBytes) {
    throw new ValueTooLarge(`${valueSubject(name)} must have at most ${writeLimits.valueBytes} bytes in UTF-8.`);
  }
  if (forbiddenCharacter.test(value)) {
    throw new BadValue(`${valueSubject(name)} must be text; of control characters it may hold tabs and line breaks.`);
  }
  return value;
}

/** The subject of an error message about an attribute's value. */
export function valueSubject(name: string): string {
  return `The value of ${printableName(name) ?? "each attribute"}`;
}

const utf8 = new TextEncoder();

/**
 * The name if an error may repeat it: only text that looks like an attribute name, because a client may send a secret
 * in the wrong place.
 */
function printableName(name: string): string | undefined {
  return /^(?:[a-z_]{1,30}|[do]\.structures[\w.[\]]{1,80})$/i.test(name) ? name : undefined;
}
