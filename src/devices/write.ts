import type { KeepAnswer } from "../idempotency/idempotent-writes.ts";
import type { AccessScope } from "../model/access-scope.ts";
import { isWritable, type NamedAttribute, parseAttributeName } from "../model/attribute-names.ts";
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
import type { AttributeChange, Commit } from "./commit.ts";

/** What a client wants an attribute to hold; null or empty erases it. */
export interface AttributeWrite {
  readonly name: string;
  readonly value: string | null;
}

/** Writing what is within the caller's reach; a foreign device is as unknown as one that never was. */
export interface DeviceWriting {
  /** All of it or nothing, durable when it resolves. `keep` stores the answer of a keyed request with it. */
  write(
    accessScope: AccessScope,
    deviceId: DeviceId,
    writes: readonly AttributeWrite[],
    keep?: KeepAnswer,
  ): Promise<void>;
}

export const writeLimits = { nameCharacters: 128, valueBytes: 8_192, requestCharacters: 256 };

export function deviceWriting(store: Store<Pick<Transaction, "devices">>, commit: Commit): DeviceWriting {
  return {
    async write(accessScope, deviceId, writes, keep) {
      const device = await store.read((tx) => tx.devices.within(accessScope, deviceId));
      if (!device) throw new UnknownDevice();
      const changes = checkedChanges(device, writes);
      try {
        await commit({
          userId: device.userId,
          cause: causeOf(accessScope),
          updates: [{ deviceId, changes }],
          ...(keep && { also: (tx) => keep(tx) }),
        });
      } catch (error) {
        // Removed since we looked: now it is as unknown as any other.
        if (error instanceof NotFound) throw new UnknownDevice();
        throw error;
      }
    },
  };
}

/** What a client, or an alert of theirs, may write to that device; throws at the first thing that it may not. */
export function checkedChanges(
  { isVirtual }: { readonly isVirtual: boolean },
  writes: readonly AttributeWrite[],
): readonly AttributeChange[] {
  return isVirtual ? virtualChanges(writes) : ordinaryChanges(writes);
}

/** The attribute that a name means on that device, whether or not it has a value there. */
export function attributeKey({ isVirtual }: { readonly isVirtual: boolean }, name: string): AttributeKey {
  return isVirtual ? knownAttribute(name).number : checkName(name);
}

/** An enterprise client is nobody among the users: it acts by the right of the administrator who let it in. */
function causeOf(accessScope: AccessScope): Cause {
  return accessScope.kind === "user" ? { by: "client", user: accessScope.userId } : { by: "administrator" };
}

/** Unknown names are told before read-only ones, and both before any value is looked at. */
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

/** The attribute of a linked account that a name means. */
export function knownAttribute(name: string): NamedAttribute {
  const attribute = parseAttributeName(name);
  if (!attribute) throw new UnknownAttribute(`This device has no attribute ${shown(name) ?? "of that name"}.`);
  return attribute;
}

function ordinaryChanges(writes: readonly AttributeWrite[]): readonly AttributeChange[] {
  return writes.map(({ name, value }) => ({ key: checkName(name), value: checkValue(name, value) }));
}

function checkRequest(spelling: string, given: string | null): string | null {
  const value = checkValue(spelling, given);
  if (value !== null && (countCharacters(value) > writeLimits.requestCharacters || /\p{Cc}/u.test(value))) {
    throw new BadValue(
      `The value of ${spelling} must have at most ${writeLimits.requestCharacters} characters, none of them a control character.`,
    );
  }
  return value;
}

function checkName(name: string): string {
  const length = countCharacters(name);
  if (length === 0 || length > writeLimits.nameCharacters || /\p{Cc}/u.test(name) || unkeepable.test(name)) {
    throw new BadParameter(
      "name",
      `An attribute's name must have 1 to ${writeLimits.nameCharacters} characters, none of them a control character.`,
    );
  }
  return name;
}

function checkValue(name: string, value: string | null): string | null {
  if (value === null || value === "") return null;
  const subject = theValueOf(name);
  if (utf8.encode(value).length > writeLimits.valueBytes) {
    throw new ValueTooLarge(`${subject} must have at most ${writeLimits.valueBytes} bytes in UTF-8.`);
  }
  if (unkeepable.test(value)) {
    throw new BadValue(`${subject} must be text; of control characters it may hold tabs and line breaks.`);
  }
  return value;
}

/** How an error speaks of an attribute's value. */
export function theValueOf(name: string): string {
  return `The value of ${shown(name) ?? "each attribute"}`;
}

const utf8 = new TextEncoder();

/** NUL and halves of surrogate pairs no database keeps; the rest no XML answer could carry, not even escaped. */
const unkeepable = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** A name as an error may repeat it: one that was plainly meant as a name, not a secret in the wrong place. */
function shown(name: string): string | undefined {
  return /^(?:[a-z_]{1,30}|[do]\.structures[\w.[\]]{1,80})$/i.test(name) ? name : undefined;
}

/** Code points rather than UTF-16 units: an emoji is no more than a letter. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
