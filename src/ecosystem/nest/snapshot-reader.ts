import type { Account } from "../../model/account.ts";
import { isJsonObject, type JsonObject, parseJson } from "./parse-json.ts";
import { readSnapshot } from "./snapshot.ts";
import { endOfValue, type FieldLayout, fieldsOf, type LaidKind, type Layout, layoutOf } from "./snapshot-layout.ts";
import { type Lists, TouchedAccount } from "./touched-account.ts";

/**
 * Reads one account's puts in a row. Most are the last one but for a field or two, and parsing is most of what a snapshot
 * costs; so the bytes are compared with those of the last, object by object and field by field, and only what differs is
 * parsed. Whatever else differs is read as a whole. What comes of it is the same either way, but for what is shared: an
 * object that says what it said before is the very same in both accounts, and so is an account.
 */
export class SnapshotReader {
  /** The last put, at the beginning of a buffer that may be longer. */
  #bytes: Buffer = nothing;
  #length = 0;
  /** Undefined before the first put; null when the last one can't be laid out. */
  #layout: Layout | null | undefined;
  #account: Account | undefined;
  #lists: Lists = new Map();
  /** Of objects that have been touched, by their place in the layout. */
  #fields: (ReadFields | undefined)[] = [];
  #misses = 0;

  /** Whether the next put will most likely cost next to nothing. */
  get isQuick(): boolean {
    return this.#account !== undefined && this.#misses < 2;
  }

  isSame(put: Buffer): boolean {
    return (
      this.#account !== undefined && put.length === this.#length && put.compare(this.#bytes, 0, this.#length) === 0
    );
  }

  /** The account that a put tells; `partial` when its path is not `/`; undefined when it isn't JSON for an account. */
  read(put: Buffer): Account | "partial" | undefined {
    const account = this.#account && this.#readTouched(put);
    if (account) {
      this.#misses = 0;
      return this.#keep(put, account);
    }
    this.#misses += this.#account ? 1 : 0;
    this.#account = undefined;
    this.#layout = undefined;
    this.#lists = new Map();
    this.#fields = [];
    const value = parseJson(put);
    if (!isJsonObject(value) || typeof value.path !== "string") return undefined;
    if (value.path !== "/") return "partial";
    return this.#keep(put, readSnapshot(value.data));
  }

  /** In the same buffer where it fits: one for each put would be more work than to compare it. */
  #keep(put: Buffer, account: Account): Account {
    const hasRoom = put.length <= this.#bytes.length && put.length >= this.#bytes.length / 2;
    if (!hasRoom) this.#bytes = Buffer.allocUnsafeSlow(put.length);
    put.copy(this.#bytes);
    this.#length = put.length;
    this.#account = account;
    return account;
  }

  /** Undefined when more has changed than what is inside of objects, or inside of many of them. */
  #readTouched(put: Buffer): Account | undefined {
    this.#layout ??= this.#layout === undefined ? (layoutOf(this.#bytes.subarray(0, this.#length)) ?? null) : null;
    if (this.#layout === null) return undefined;
    const { objects, bounds } = this.#layout;
    const touched = new TouchedAccount(this.#account!, this.#lists);
    let objectsTouched = 0;
    const moved = movedBounds(this.#bytes, 0, put, 0, bounds, (place, start, end, newStart) => {
      objectsTouched += 1;
      if (objectsTouched > mostTouched) return -1;
      const { kind, id } = objects[place]!;
      const newEnd = this.#touchFields(touched, place, start, end, put, newStart);
      if (newEnd >= 0) return newEnd;
      this.#fields[place] = undefined;
      return this.#touchObject(touched, kind, id, start, end, put, newStart);
    });
    if (moved?.at(-1) !== put.length) return undefined;
    this.#layout = { objects, bounds: moved };
    return touched.account;
  }

  /** Behind the object as it is now; -1 when it has to be read as a whole. */
  #touchFields(
    touched: TouchedAccount,
    place: number,
    start: number,
    end: number,
    put: Buffer,
    newStart: number,
  ): number {
    const { kind, id } = this.#layout!.objects[place]!;
    this.#fields[place] ??= readFieldsOf(this.#bytes.subarray(start, end), kind);
    const fields = this.#fields[place];
    if (fields === undefined || !touched.isRead(kind, id)) return -1;
    const now: Record<string, unknown> = {};
    const moved = movedBounds(this.#bytes, start, put, newStart, fields.bounds, (field, _, __, valueStart) => {
      const valueEnd = endOfValue(put, valueStart);
      const value = valueEnd < 0 ? undefined : parseJson(put.subarray(valueStart, valueEnd), levelsAbove[kind] + 1);
      // What becomes blank may have been all that a structure said.
      if (value === undefined || (value === null && kind === "structures")) return -1;
      const name = fields.names[field]!;
      if (name !== unread) now[name] = value;
      return valueEnd;
    });
    if (moved === undefined) return -1;
    const before = fields.known;
    const known = { ...before, ...now };
    const names = Object.keys(now);
    const listsAreSame = !names.includes("thermostats") && !names.includes("smoke_co_alarms");
    if (names.length > 0 && !touched.replace(kind, id, () => before, known, listsAreSame)) return -1;
    this.#fields[place] = { names: fields.names, bounds: moved, known };
    return newStart + moved.at(-1)!;
  }

  #touchObject(
    touched: TouchedAccount,
    kind: LaidKind,
    id: string,
    start: number,
    end: number,
    put: Buffer,
    newStart: number,
  ): number {
    const newEnd = endOfValue(put, newStart);
    const now = newEnd < 0 ? undefined : objectIn(put.subarray(newStart, newEnd), kind);
    const before = () => objectIn(this.#bytes.subarray(start, end), kind);
    return now !== undefined && touched.replace(kind, id, before, now) ? newEnd : -1;
  }
}

/**
 * Compares what begins at `from` with what begins at `newFrom`, stretch by stretch. Every other stretch is a value; of one
 * that differs `touch` answers where it ends now, or -1. Answers the new bounds; undefined when anything else differs.
 */
function movedBounds(
  bytes: Buffer,
  from: number,
  put: Buffer,
  newFrom: number,
  bounds: readonly number[],
  touch: (place: number, start: number, end: number, newStart: number) => number,
): readonly number[] | undefined {
  const moved = bounds.slice();
  /** How much further back things are than they were. */
  let shift = 0;
  const walk = (first: number, last: number): boolean => {
    const start = from + bounds[first]!;
    const end = from + bounds[last]!;
    const newStart = newFrom + bounds[first]! + shift;
    const newEnd = newStart + end - start;
    if (newEnd <= put.length && put.compare(bytes, start, end, newStart, newEnd) === 0) {
      if (shift !== 0) for (let bound = first + 1; bound <= last; bound++) moved[bound] = bounds[bound]! + shift;
      return true;
    }
    if (last - first > 1) {
      const middle = (first + last) >> 1;
      return walk(first, middle) && walk(middle, last);
    }
    if (first % 2 === 0) return false;
    const touchedEnd = touch((first - 1) / 2, start, end, newStart);
    if (touchedEnd < 0) return false;
    moved[last] = touchedEnd - newFrom;
    shift = moved[last]! - bounds[last]!;
    return true;
  };
  return walk(0, bounds.length - 1) ? moved : undefined;
}

const nothing: Buffer = Buffer.alloc(0);

/** Of thousands of objects, reading one at a time takes longer than reading all at once. The model shows far fewer. */
const mostTouched = 200;

/** How far below a put's own object an object of the kind lies: so much less deep may it be. */
const levelsAbove: Readonly<Record<LaidKind, number>> = { structures: 3, thermostats: 4, smoke_co_alarms: 4 };

/** Text that is an object from its first byte to its last ends there in every document in which it begins there. */
function objectIn(bytes: Buffer, kind: LaidKind): JsonObject | undefined {
  const value = parseJson(bytes, levelsAbove[kind]);
  return isJsonObject(value) ? value : undefined;
}

/** What is known of an object's fields: where they lie, and what those say that are read. */
interface ReadFields extends FieldLayout {
  readonly known: JsonObject;
}

const ofDevice = ["structure_id", "name", "is_online"];
const readNames: Readonly<Record<LaidKind, ReadonlySet<string>>> = {
  structures: new Set(["name", "away", "thermostats", "smoke_co_alarms"]),
  thermostats: new Set([...ofDevice, "has_fan", "fan_timer_active", "fan_timer_timeout"]),
  smoke_co_alarms: new Set([...ofDevice, "co_alarm_state", "smoke_alarm_state", "ui_color_state"]),
};

/** In the place of a name that nobody reads. */
const unread = "";

function readFieldsOf(bytes: Buffer, kind: LaidKind): ReadFields | undefined {
  const layout = fieldsOf(bytes);
  const object = layout && objectIn(bytes, kind);
  if (!object) return undefined;
  const isOf = readNames[kind];
  const read = layout.names.filter((name) => isOf.has(name));
  // That a structure says anything at all is told by any field.
  const other = layout.names.find((name) => !isOf.has(name) && name !== "structure_id" && object[name] !== null);
  const kept = kind === "structures" && other !== undefined ? [...read, other] : read;
  const known: JsonObject = Object.fromEntries(kept.map((name) => [name, object[name]]));
  return { names: layout.names.map((name) => (isOf.has(name) ? name : unread)), bounds: layout.bounds, known };
}
