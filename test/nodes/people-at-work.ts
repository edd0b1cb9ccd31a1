import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { addClient, addGrant } from "../../bench/granted-client.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { addDevice } from "../../src/provisioning/operator-devices.ts";
import type { Parts } from "../../src/service/parts.ts";
import { EventStream, type ReceivedEvent } from "../events/event-stream.ts";

/** A person who calls all the time on one kept-alive connection. Their lamp holds the number of their writes. */
interface Person {
  readonly lamp: DeviceId;
  /** The virtual device of their home. */
  readonly home: DeviceId;
  readonly secToken: string;
  /** The newest one: a grant keeps only its newest tokens. */
  accessToken: string;
  refreshToken: string;
  /** All acknowledged values, in order. */
  readonly written: string[];
  readonly alerts: number[];
}

type Home = { readonly userId: UserId; readonly deviceId: DeviceId };

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** How many alerts of a person are kept; older ones are deleted. */
const keptAlerts = 3;
const fan = "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite";
const form = "application/x-www-form-urlencoded";

/**
 * People who read, write, refresh tokens, create alerts and follow events at one address, one call after the other.
 * Bad answers are recorded. At the end all acknowledged writes are verified.
 */
export class PeopleAtWork {
  readonly failures: string[] = [];
  answered = 0;
  #nextCall = Promise.withResolvers<void>();
  readonly #address: string;
  readonly #credentials: Readonly<Record<string, string>>;
  readonly #people: readonly Person[];
  readonly #restMs: number;
  readonly #readers: readonly Reader[];
  #working: Promise<unknown> = Promise.resolve();
  #isOver = false;
  #areFansOn = false;

  private constructor(
    address: string,
    credentials: Readonly<Record<string, string>>,
    people: readonly Person[],
    restMs: number,
  ) {
    this.#address = address;
    this.#credentials = credentials;
    this.#people = people;
    this.#restMs = restMs;
    this.#readers = people.map((person) => new Reader(address, person, this.failures));
  }

  /** Creates the people. They don't call yet. */
  static async of(parts: Parts, homes: readonly Home[], address: string, restMs: number): Promise<PeopleAtWork> {
    const { store, identity, oauth } = parts;
    const { tenantId } = (await store.read((tx) => tx.users.byId(homes[0]!.userId)))!;
    const client = await addClient({ oauth }, tenantId);
    const people: Person[] = [];
    for (const { userId, deviceId: home } of homes) {
      const lamp = await addDevice(store, { userId, typeName: "Lamp", name: "Lamp" });
      const secToken = await identity.issueFor(userId);
      const tokens = await store.transaction((tx) => addGrant(tx, client, userId));
      people.push({ lamp, home, secToken, ...tokens, written: [], alerts: [] });
    }
    return new PeopleAtWork(address, client.credentials, people, restMs);
  }

  async start(): Promise<void> {
    await Promise.all(this.#readers.map((reader) => reader.start()));
    this.#working = Promise.all(this.#people.map((person, i) => this.#work(person, i)));
  }

  /** Resolves when so many more calls have been answered. */
  async answers(more: number): Promise<void> {
    const until = this.answered + more;
    while (this.answered < until && this.failures.length === 0) await this.#nextCall.promise;
  }

  /** Turns the fan of every person once: the ecosystem accepts only a few requests in an hour. */
  async turnFans(): Promise<void> {
    this.#areFansOn = !this.#areFansOn;
    const body = JSON.stringify({ [fan]: String(this.#areFansOn) });
    await Promise.all(this.#people.map((person) => this.#ask(person, "PUT", `/v3/devices/${person.home}`, body)));
  }

  /** Lets each person finish the present call. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#working;
  }

  /** Each acknowledged write is stored once, each fan request was executed, and readers got all events in order, without duplicates. */
  async assertNothingLost(): Promise<void> {
    for (const [i, person] of this.#people.entries()) {
      const shown = JSON.parse((await this.#ask(person, "GET", `/v3/devices/${person.lamp}`)).body);
      assert.equal(shown.attributes.count?.value, person.written.at(-1));
      const { alerts } = JSON.parse((await this.#ask(person, "GET", `/v3/alerts?deviceId=${person.lamp}`)).body);
      assert.deepEqual(
        alerts.map(({ alertId }: { alertId: number }) => alertId),
        person.alerts,
      );
      await this.#refresh(person);
      await this.#untilFanTurned(person);
      const heard = await this.#readers[i]!.heard(person.written.length);
      // A reader stops waiting when anything has failed: that failure says why events are missing.
      assert.deepEqual(this.failures, []);
      assert.deepEqual(heard, person.written);
    }
    assert.deepEqual(this.failures, []);
  }

  close(): void {
    for (const reader of this.#readers) reader.close();
  }

  async #work(person: Person, offset: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const acts = [
      () => this.#ask(person, "GET", "/v3/devices", undefined, agent),
      () => this.#count(person, agent),
      () => this.#callPlatform(person, agent),
      () => this.#refresh(person, agent),
      () => this.#changeAlerts(person, agent),
    ];
    try {
      for (let i = offset; !this.#isOver && this.failures.length === 0; i++) {
        await acts[i % acts.length]!();
        if (this.#restMs > 0) await pause(this.#restMs);
      }
    } catch (error) {
      this.failures.push(String(error));
      this.#tell();
    } finally {
      agent.destroy();
    }
  }

  async #count(person: Person, agent: Agent): Promise<void> {
    const next = `put ${person.written.length}`;
    await this.#ask(person, "PUT", `/v3/devices/${person.lamp}`, JSON.stringify({ count: next }), agent);
    person.written.push(next);
  }

  async #callPlatform(person: Person, agent: Agent): Promise<void> {
    const value = `post ${person.written.length}`;
    const given = { secToken: person.secToken, devId: String(person.lamp), name: "count", value };
    const path = "/zdk/services/zamapi/setDeviceAttribute";
    const { body } = await this.#ask(person, "POST", path, String(new URLSearchParams(given)), agent);
    assert.match(body, /<(\w+:)?retCode>0</);
    person.written.push(value);
  }

  async #refresh(person: Person, agent?: Agent): Promise<void> {
    const given = { grant_type: "refresh_token", refresh_token: person.refreshToken, ...this.#credentials };
    const path = "/oauth2/access_token";
    const { body } = await this.#ask(person, "POST", path, String(new URLSearchParams(given)), agent);
    const { access_token, refresh_token } = JSON.parse(body);
    person.accessToken = access_token;
    person.refreshToken = refresh_token;
  }

  async #changeAlerts(person: Person, agent: Agent): Promise<void> {
    const alert = {
      deviceId: person.lamp,
      attrName: "count",
      operation: "equals",
      stringThreshold: "x",
      action: "note",
    };
    const { body } = await this.#ask(person, "POST", "/v3/alerts", JSON.stringify(alert), agent);
    person.alerts.push(JSON.parse(body).alertId);
    if (person.alerts.length <= keptAlerts) return;
    await this.#ask(person, "DELETE", `/v3/alerts/${person.alerts[0]}`, undefined, agent);
    person.alerts.shift();
  }

  /** Waits until the fan request is settled, by any node, and was executed. */
  async #untilFanTurned(person: Person): Promise<void> {
    const path = `/v3/devices/${person.home}?${new URLSearchParams({ attribute: fan })}`;
    for (;;) {
      const { attributes } = JSON.parse((await this.#ask(person, "GET", path)).body);
      const value = attributes[fan]?.value ?? null;
      if (value === null) return;
      assert.doesNotMatch(value, /^error/);
      await pause(200);
    }
  }

  #tell(): void {
    this.#nextCall.resolve();
    this.#nextCall = Promise.withResolvers();
  }

  /** Returns a good answer; any other answer ends the work. */
  async #ask(person: Person, method: string, path: string, body?: string, agent?: Agent): Promise<Answer> {
    const isForm = body !== undefined && !body.startsWith("{");
    const headers = {
      ...(isForm ? { "content-type": form } : { authorization: `Bearer ${person.accessToken}` }),
      ...(body !== undefined && !isForm && { "content-type": "application/json" }),
      ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
    };
    const answer = await send(`${this.#address}${path}`, { method, headers, agent }, body).catch((error) => {
      throw new Error(`${method} ${path.split("?")[0]}: ${error.code ?? error}`);
    });
    if (answer.status >= 300) throw new Error(`${method} ${path.split("?")[0]}: ${answer.status} ${answer.body}`);
    this.answered += 1;
    this.#tell();
    return answer;
  }
}

function send(url: string, options: object, body: string | undefined): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sending = request(url, options, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (piece) => {
        text += piece;
      });
      answer.on("end", () => resolve({ status: answer.statusCode!, body: text }));
      answer.on("error", reject);
    });
    sending.on("error", reject);
    sending.end(body);
  });
}

/** Follows one lamp's events, and resumes after the last event whenever its stream ends. */
class Reader {
  readonly #address: string;
  readonly #person: Pick<Person, "accessToken" | "lamp">;
  readonly #failures: string[];
  readonly #earlier: ReceivedEvent[] = [];
  #stream: EventStream | undefined;
  #isClosed = false;

  constructor(address: string, person: Pick<Person, "accessToken" | "lamp">, failures: string[]) {
    this.#address = address;
    this.#person = person;
    this.#failures = failures;
  }

  async start(): Promise<void> {
    this.#stream = await this.#open();
    void this.#follow(this.#stream).catch((error) => this.#failures.push(`a stream of events: ${error}`));
  }

  /** Resolves with the counts when there are so many. */
  async heard(count: number): Promise<readonly string[]> {
    for (;;) {
      const events = [...this.#earlier, ...(this.#stream?.events ?? [])].filter(({ name }) => name !== "alert");
      if (events.length >= count || this.#failures.length > 0) {
        assert.deepEqual(
          events.filter(({ name }) => name !== "attribute"),
          [],
        );
        return events.map(({ data }) => data.value);
      }
      await pause(20);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#stream?.close();
  }

  async #follow(stream: EventStream): Promise<void> {
    let lastEventId = "";
    for (let open = stream; ; ) {
      await open.ended;
      if (this.#isClosed) return;
      lastEventId = open.lastEventId || lastEventId;
      this.#earlier.push(...open.events);
      this.#stream = undefined;
      open = await this.#open(lastEventId);
      this.#stream = open;
    }
  }

  #open(lastEventId?: string): Promise<EventStream> {
    const { accessToken, lamp } = this.#person;
    const query = `?deviceId=${lamp}`;
    return EventStream.open(this.#address, accessToken, { query, ...(lastEventId && { lastEventId }) });
  }
}
