import type { Credential } from "../../../src/ecosystems/credential.ts";
import type { FormAnswer, PostForm } from "../../../src/ecosystems/home-assistant/form-post.ts";
import type { SessionParts } from "../../../src/ecosystems/home-assistant/session.ts";
import type { Dice } from "../dice.ts";
import type { Faults, HostileKind } from "../faults.ts";
import type { Process, Scheduler } from "../scheduler.ts";
import { HostileEntities } from "./hostile-entities.ts";
import { SimulatedSocket } from "./socket.ts";

export interface HostileInstanceParts {
  readonly userId: number;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  /** Its own, so that runs without a hostile instance stay as they are. */
  readonly dice: Dice;
  /** Called after a time in which the instance has changed levels alone. */
  readonly flooded: (fromMs: number, toMs: number) => void;
}

interface OpenSession {
  readonly socket: SimulatedSocket;
  /** The subscription to states. */
  states: number | undefined;
  readonly others: number[];
}

interface Request {
  readonly id: number;
  readonly type: string;
}

/** How often a hostile instance does each of these things. One at a time, for some seconds. */
const moods: Readonly<Record<HostileKind, number>> = {
  "hostile instance floods levels": 3,
  "hostile instance floods changes": 3,
  "hostile instance sends strangers": 2,
  "hostile instance sends heavy states": 2,
  "hostile instance grows": 3,
  "hostile instance shrinks": 3,
  "hostile instance contradicts itself": 2,
  "hostile instance sends nonsense": 3,
  "hostile instance withholds answers": 2,
  "hostile instance repeats answers": 2,
  "hostile instance refuses calls": 2,
  "hostile instance drops connections": 2,
  "hostile instance ends consent": 1,
  "hostile instance starts for ever": 1,
};

/** A node that reads no more leaves messages on the wire. A real connection holds about as many. */
const messagesOnTheWire = 20;

/**
 * A Home Assistant instance that wants to do harm. The node's real connector talks to it as to an honest one. It does not
 * stop when the faults of a run are over.
 */
export class HostileInstance {
  readonly address: string;
  readonly #scheduler: Scheduler;
  readonly #faults: Faults;
  readonly #dice: Dice;
  readonly #flooded: HostileInstanceParts["flooded"];
  readonly #process: Process;
  readonly #entities: HostileEntities;
  readonly #sessions = new Set<OpenSession>();
  #mood: HostileKind = "hostile instance grows";
  #moodSinceMs = 0;
  #issued = 0;
  #slowness: () => number = () => 1;

  constructor({ userId, scheduler, faults, dice, flooded }: HostileInstanceParts) {
    this.#scheduler = scheduler;
    this.#faults = faults;
    this.#dice = dice;
    this.#flooded = flooded;
    this.#entities = new HostileEntities(dice);
    this.address = `https://hostile-${userId}.example`;
    this.#process = { name: `hostile instance ${userId}`, isDead: false, isFrozen: false };
  }

  /** `slowness`: how many times longer the pauses are at present. */
  start(slowness: () => number): void {
    this.#slowness = slowness;
    this.#changeMood();
    this.#act();
  }

  consent(nowMs: number): Credential {
    const expiresMs = nowMs + this.#dice.pick([15_000, 60_000, 1_800_000]);
    const clientId = "https://breezeway.example";
    return { ...this.#tokens(), expiresMs, clientId, address: this.address };
  }

  openSocketFor(node: Process): SessionParts["openSocket"] {
    return (_, signal) =>
      new Promise((resolve) => {
        const noSocket = (detail: string) => resolve({ end: { reason: "unreachable", detail } });
        signal.addEventListener("abort", () => noSocket("no answer in time"), { once: true });
        if (signal.aborted) return noSocket("no answer in time");
        // Some connections are never answered.
        if (this.#is("hostile instance withholds answers") && this.#dice.chance(0.3)) return;
        this.#scheduler.after(this.#dice.between(1, 100), node, "connects to a hostile instance", () => {
          if (signal.aborted) return;
          const session: OpenSession = { socket: this.#socketOf(node, () => session), states: undefined, others: [] };
          this.#sessions.add(session);
          session.socket.push({ type: "auth_required" });
          resolve(session.socket as never);
        });
      });
  }

  postFor(node: Process): PostForm {
    return ({ path }, signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(undefined), { once: true });
        if (signal.aborted) return resolve(undefined);
        if (this.#is("hostile instance withholds answers") && this.#dice.chance(0.5)) return;
        const answer = this.#formAnswer();
        this.#scheduler.after(this.#dice.between(1, 200), node, `a hostile instance answers ${path}`, () =>
          resolve(answer),
        );
      });
  }

  #formAnswer(): FormAnswer | undefined {
    const good = { access_token: this.#tokens().accessToken, expires_in: 60 };
    if (this.#is("hostile instance refuses calls")) {
      const status = this.#dice.pick([400, 401, 403, 404, 429, 500, 503, undefined]);
      return { status, body: this.#dice.pick([undefined, { error: "invalid_grant" }, { error: {} }, []]) };
    }
    if (!this.#is("hostile instance sends nonsense")) return { status: 200, body: good };
    const expires_in = this.#dice.pick([0, -1, 0.001, 1e300, "soon", null]);
    return {
      status: 200,
      body: this.#dice.pick([{ ...good, expires_in }, { access_token: "" }, this.#entities.text()]),
    };
  }

  #socketOf(node: Process, session: () => OpenSession): SimulatedSocket {
    return new SimulatedSocket({
      scheduler: this.#scheduler,
      node,
      instance: this.#process,
      receive: (text) => this.#receive(session(), JSON.parse(text) as Request),
      ended: () => this.#sessions.delete(session()),
    });
  }

  #receive(session: OpenSession, { id, type }: Request): void {
    const { socket } = session;
    if (this.#is("hostile instance drops connections") && this.#dice.chance(0.1)) {
      this.#drop(session);
      return;
    }
    if (this.#is("hostile instance withholds answers") && this.#dice.chance(0.4)) return;
    if (type === "auth") {
      const isRefused = this.#is("hostile instance ends consent") && this.#dice.chance(0.7);
      socket.push({ type: isRefused ? "auth_invalid" : "auth_ok" });
      return;
    }
    if (type === "subscribe_events") session.others.push(id);
    if (type === "subscribe_entities") session.states = id;
    if (type === "unsubscribe_events") session.states = undefined;
    for (const answer of this.#answersTo(id, type)) {
      const isLate = this.#is("hostile instance repeats answers") && this.#dice.chance(0.2);
      if (isLate) this.#later(this.#dice.pick([100, 5_000, 40_000]), "answers late", () => socket.push(answer));
      else socket.push(answer);
    }
  }

  #answersTo(id: number, type: string): readonly object[] {
    const isOdd = this.#is("hostile instance sends nonsense");
    if (this.#is("hostile instance refuses calls") && this.#dice.chance(0.3)) {
      const error = { code: this.#entities.text(), message: this.#entities.text() };
      return [{ id, type: "result", success: this.#dice.pick([false, null, 0]), error }];
    }
    if (type === "ping") return isOdd ? [{ id: id + 1, type: "pong" }] : [{ id, type: "pong" }];
    const answer = { id, type: "result", success: true, result: this.#resultOf(type, isOdd) };
    const answers: object[] = this.#is("hostile instance repeats answers") ? [answer, answer] : [answer];
    if (type === "subscribe_entities") {
      const listed = this.#entities.ids.map((entityId) => [entityId, this.#entities.state(entityId, isOdd)]);
      answers.push({ id, type: "event", event: { a: Object.fromEntries(listed) } });
    }
    // The registries change again while they are read.
    if (this.#is("hostile instance starts for ever")) this.#announce();
    return answers;
  }

  /** A service call says what it likes: its success proves nothing. */
  #resultOf(type: string, isOdd: boolean): unknown {
    const entities = this.#entities;
    if (isOdd && this.#dice.chance(0.1)) return entities.text();
    if (type === "get_config") {
      const state = this.#is("hostile instance starts for ever") ? "STARTING" : "RUNNING";
      return { unit_system: { temperature: "°C" }, location_name: isOdd ? entities.text() : "Trap", state };
    }
    if (type === "get_states") return entities.states(isOdd);
    if (type === "config/entity_registry/list") return entities.registry(isOdd);
    if (type === "config/device_registry/list") return [{ id: "d1", name: entities.text() }, { id: "d1" }];
    return type === "call_service" ? { context: { id: entities.text() } } : [];
  }

  /** Goes on to the end of the run. */
  #act(): void {
    // Levels change a few at a time: many small changes make more commits than few large ones.
    const [least, most] = this.#is("hostile instance floods levels") ? [10, 40] : [100, 600];
    this.#later(this.#dice.between(least, most) * this.#slowness(), "acts", () => {
      if (this.#scheduler.nowMs - this.#moodSinceMs > 4_000) this.#changeMood();
      if (this.#is("hostile instance grows") && this.#dice.chance(0.3)) this.#entities.grow();
      if (this.#is("hostile instance shrinks") && this.#dice.chance(0.3)) this.#entities.shrink();
      const isResized = this.#is("hostile instance grows") || this.#is("hostile instance shrinks");
      if (isResized) this.#announce();
      for (const session of [...this.#sessions]) {
        if (this.#is("hostile instance drops connections") && this.#dice.chance(0.2)) this.#drop(session);
        else if (session.socket.arrivingCount >= messagesOnTheWire) this.#faults.count("hostile instance held back");
        else if (session.states !== undefined) this.#tell(session.socket, session.states);
      }
      this.#act();
    });
  }

  #tell(socket: SimulatedSocket, id: number): void {
    const say = (event: object) => socket.push({ id, type: "event", event });
    const entities = this.#entities;
    const changes = (ids: readonly string[], change: (entityId: string) => object) =>
      ids.map((entityId) => ({ id, type: "event", event: { c: { [entityId]: change(entityId) } } }));
    switch (this.#mood) {
      case "hostile instance floods levels":
        socket.push(changes(entities.some(this.#dice.between(2, 8)), () => entities.level()));
        break;
      case "hostile instance floods changes":
        socket.push(
          changes(entities.some(this.#dice.between(20, 150)), (one) => ({ "+": entities.state(one, false) })),
        );
        break;
      case "hostile instance sends strangers": {
        const strangers = entities.strangers(200).map((entityId) => [entityId, entities.state(entityId, false)]);
        say({ a: Object.fromEntries(strangers), c: { "light.none": entities.level() }, r: entities.strangers(20) });
        break;
      }
      case "hostile instance sends heavy states":
        say({ a: Object.fromEntries(entities.some(10).map((entityId) => [entityId, entities.heavy()])) });
        break;
      case "hostile instance contradicts itself": {
        const [one, other] = entities.some(2) as [string, string];
        say({ r: [one, one, other], a: { [one]: entities.state(one, false) }, c: { [other]: entities.level() } });
        say({ c: { [one]: entities.level() }, r: [one] });
        say({ a: { [one]: entities.state(one, false), [other]: entities.state(other, false) } });
        this.#announce();
        break;
      }
      case "hostile instance sends nonsense": {
        const [one] = entities.some(1) as [string];
        say({
          a: { [one]: entities.state(one, true) },
          c: this.#dice.pick([{ [one]: { "+": entities.text() } }, [], 1]),
        });
        if (this.#dice.chance(0.05))
          socket.pushText(this.#dice.pick(["", "{", "[[]]", "null", '{"id":"x"}', "\ud800"]));
        if (this.#dice.chance(0.03)) socket.pushText(`{"id":${id},"type":"event","event":"${"x".repeat(2_200_000)}"}`);
        if (this.#dice.chance(0.05)) socket.pushText(`${"[".repeat(5_000)}${"]".repeat(5_000)}`);
        break;
      }
      case "hostile instance withholds answers":
        if (this.#dice.chance(0.05)) socket.isSilent = true;
        break;
      default:
    }
  }

  /** The registries have changed. */
  #announce(): void {
    for (const { socket, others } of this.#sessions) {
      if (socket.arrivingCount < messagesOnTheWire)
        for (const id of others) socket.push({ id, type: "event", event: {} });
    }
  }

  #changeMood(): void {
    if (this.#is("hostile instance floods levels")) this.#flooded(this.#moodSinceMs, this.#scheduler.nowMs);
    this.#mood = this.#dice.weighted(moods)!;
    this.#moodSinceMs = this.#scheduler.nowMs;
    this.#faults.count(this.#mood);
  }

  #is(mood: HostileKind): boolean {
    return this.#mood === mood;
  }

  #tokens() {
    this.#issued += 1;
    return { accessToken: `hostile-${this.#issued}`, refreshToken: `hostile-refresh-${this.#issued}` };
  }

  #drop(session: OpenSession): void {
    this.#sessions.delete(session);
    session.socket.drop();
  }

  #later(delayMs: number, what: string, act: () => void): void {
    this.#scheduler.after(delayMs, this.#process, what, act);
  }
}
