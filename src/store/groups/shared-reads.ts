import type { DeviceId, UserId } from "../../model/ids.ts";
import type { AttributeKey, AttributeRow } from "../tables/attributes.ts";
import type { DeviceRow } from "../tables/devices.ts";
import type { ThingRow } from "../tables/things.ts";
import type { AttributeRef, DeviceRef, GroupTables, LinkRef, ThingRef } from "./group-tables.ts";

interface Waiting<Ask, Answer> {
  readonly ask: Ask;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Questions of one kind that wait for the end of the turn. */
class Questions<Ask, Answer> {
  #waiting: Waiting<Ask, Answer>[] = [];

  add(ask: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => this.#waiting.push({ ask, resolve, reject }));
  }

  take(): BatchedQuestions<Ask, Answer> {
    const taken = this.#waiting;
    this.#waiting = [];
    return new BatchedQuestions(taken);
  }
}

/** Questions of one kind that one statement answers. */
class BatchedQuestions<Ask, Answer> {
  readonly #waiting: readonly Waiting<Ask, Answer>[];
  readonly asks: readonly Ask[];

  constructor(waiting: readonly Waiting<Ask, Answer>[]) {
    this.#waiting = waiting;
    this.asks = waiting.map(({ ask }) => ask);
  }

  answer<Found>(found: Promise<Found>, answersIn: (found: Found) => (ask: Ask) => Answer): void {
    if (this.#waiting.length === 0) return;
    found.then(answersIn).then(
      (answerTo) => {
        for (const { ask, resolve } of this.#waiting) resolve(answerTo(ask));
      },
      (error) => {
        for (const { reject } of this.#waiting) reject(error);
      },
    );
  }
}

/**
 * The reads of a group. What its members ask in one turn of the event loop is sent together: one statement locks the
 * users, a second one reads everything else. The second one must begin after the first has ended: otherwise it could
 * miss what the holder of a user's lock committed last.
 */
export class SharedReads {
  readonly #tables: GroupTables;
  readonly #users = new Questions<UserId, number | undefined>();
  readonly #links = new Questions<LinkRef, boolean>();
  readonly #devices = new Questions<readonly DeviceRef[], DeviceRow[]>();
  readonly #attributes = new Questions<readonly AttributeRef[], AttributeRow[]>();
  readonly #things = new Questions<readonly ThingRef[], ThingRow[]>();
  #isPlanned = false;

  constructor(tables: GroupTables) {
    this.#tables = tables;
  }

  /** The store's time; undefined when the user does not exist, or another transaction holds the lock. */
  lockUser(id: UserId): Promise<number | undefined> {
    return this.#ask(this.#users, id);
  }

  holdLink(link: LinkRef): Promise<boolean> {
    return this.#ask(this.#links, link);
  }

  /** Devices whose locks another transaction holds are missing. */
  lockDevices(userId: UserId, ids: readonly DeviceId[]): Promise<DeviceRow[]> {
    return this.#ask(
      this.#devices,
      ids.map((deviceId) => ({ userId, deviceId })),
    );
  }

  /** A member asks for one device at a time. */
  attributes(userId: UserId, deviceId: DeviceId, keys: readonly AttributeKey[]): Promise<AttributeRow[]> {
    return this.#ask(
      this.#attributes,
      [...new Set(keys)].map((key) => ({ userId, deviceId, key })),
    );
  }

  things(userId: UserId, thingIds: readonly string[]): Promise<ThingRow[]> {
    return this.#ask(
      this.#things,
      [...new Set(thingIds)].map((thingId) => ({ userId, thingId })),
    );
  }

  #ask<Ask, Answer>(questions: Questions<Ask, Answer>, ask: Ask): Promise<Answer> {
    if (!this.#isPlanned) {
      this.#isPlanned = true;
      // After all promises of this turn: by then every member has asked what it needs next.
      process.nextTick(() => {
        this.#isPlanned = false;
        this.#lockUsers();
        this.#look();
      });
    }
    return questions.add(ask);
  }

  #lockUsers(): void {
    const users = this.#users.take();
    if (users.asks.length === 0) return;
    users.answer(
      this.#tables.lockUsers(users.asks),
      (locked) => (id) => (locked.ids.has(id) ? locked.nowMs : undefined),
    );
  }

  #look(): void {
    const links = this.#links.take();
    const devices = this.#devices.take();
    const attributes = this.#attributes.take();
    const things = this.#things.take();
    if ([links, devices, attributes, things].every(({ asks }) => asks.length === 0)) return;
    const found = this.#tables.read({
      links: links.asks,
      devices: devices.asks.flat(),
      attributes: attributes.asks.flat(),
      things: things.asks.flat(),
    });
    links.answer(
      found,
      (rows) =>
        ({ deviceId }) =>
          rows.links.has(deviceId),
    );
    devices.answer(found, (rows) => {
      const byId = new Map(rows.devices.map((row) => [row.id, row]));
      return (requested) => requested.flatMap(({ deviceId }) => byId.get(deviceId) ?? []);
    });
    attributes.answer(found, (rows) => {
      const byDevice = Map.groupBy(rows.attributes, ({ deviceId }) => deviceId);
      return ([first]) => (first && byDevice.get(first.deviceId)) ?? [];
    });
    things.answer(found, (rows) => {
      const byUser = Map.groupBy(rows.things, ({ userId }) => userId);
      return ([first]) => (first && byUser.get(first.userId)) ?? [];
    });
  }
}
