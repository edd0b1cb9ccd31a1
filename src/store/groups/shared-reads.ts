import type { DeviceId, UserId } from "../../model/ids.ts";
import type { AttributeKey, AttributeRow } from "../tables/attributes.ts";
import type { DeviceRow } from "../tables/devices.ts";
import type { ThingRow } from "../tables/things.ts";
import type { AskedAttribute, AskedDevice, AskedLink, GroupTables } from "./group-tables.ts";

interface Waiting<Ask, Answer> {
  readonly ask: Ask;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Questions of one kind that are asked in one statement. */
class Questions<Ask, Answer> {
  readonly #askAll: (asks: readonly Ask[]) => Promise<(ask: Ask) => Answer>;
  #waiting: Waiting<Ask, Answer>[] = [];

  constructor(askAll: (asks: readonly Ask[]) => Promise<(ask: Ask) => Answer>) {
    this.#askAll = askAll;
  }

  add(ask: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => this.#waiting.push({ ask, resolve, reject }));
  }

  send(): void {
    if (this.#waiting.length === 0) return;
    const asked = this.#waiting;
    this.#waiting = [];
    this.#askAll(asked.map(({ ask }) => ask)).then(
      (answerTo) => {
        for (const { ask, resolve } of asked) resolve(answerTo(ask));
      },
      (error) => {
        for (const { reject } of asked) reject(error);
      },
    );
  }
}

/**
 * The reads of a group. What its members ask in one turn of the event loop is sent together, one statement for each
 * kind. The order of the kinds is the order of locks (devices/commit.ts): users, links, devices.
 */
export class SharedReads {
  readonly #users: Questions<UserId, number | undefined>;
  readonly #links: Questions<AskedLink, boolean>;
  readonly #devices: Questions<readonly AskedDevice[], DeviceRow[]>;
  readonly #attributes: Questions<readonly AskedAttribute[], AttributeRow[]>;
  readonly #things: Questions<readonly Pick<ThingRow, "userId" | "thingId">[], ThingRow[]>;
  #isPlanned = false;

  constructor(tables: GroupTables) {
    this.#users = new Questions(async (ids) => {
      const locked = await tables.lockUsers(ids);
      return (id) => (locked.ids.has(id) ? locked.nowMs : undefined);
    });
    this.#links = new Questions(async (links) => {
      const held = await tables.heldLinks(links);
      return ({ deviceId }) => held.has(deviceId);
    });
    this.#devices = new Questions(async (asked) => {
      const found = new Map((await tables.lockDevices(asked.flat())).map((row) => [row.id, row]));
      return (devices) => devices.flatMap(({ deviceId }) => found.get(deviceId) ?? []);
    });
    this.#attributes = new Questions<readonly AskedAttribute[], AttributeRow[]>(async (asked) => {
      const found = Map.groupBy(await tables.attributes(asked.flat()), ({ deviceId }) => deviceId);
      return ([first]) => (first && found.get(first.deviceId)) ?? [];
    });
    this.#things = new Questions(async (asked) => {
      const found = Map.groupBy(await tables.things(asked.flat()), ({ userId }) => userId);
      return ([first]) => (first && found.get(first.userId)) ?? [];
    });
  }

  /** The store's time; undefined when the user does not exist, or another transaction holds the lock. */
  lockUser(id: UserId): Promise<number | undefined> {
    return this.#ask(this.#users, id);
  }

  holdLink(link: AskedLink): Promise<boolean> {
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
        for (const each of [this.#users, this.#links, this.#devices, this.#attributes, this.#things]) each.send();
      });
    }
    return questions.add(ask);
  }
}
