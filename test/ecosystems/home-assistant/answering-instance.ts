import { EventEmitter } from "node:events";
import type WebSocket from "ws";
import type { Connector } from "../../../src/ecosystems/connector.ts";
import { type HomeAssistantOptions, homeAssistantConnector } from "../../../src/ecosystems/home-assistant/connector.ts";
import type { LimitName } from "../../../src/model/limits.ts";
import { type ManualRuntime, manualRuntime } from "../../federation/manual-runtime.ts";
import { immediateTurns } from "../immediate-turns.ts";

export type Message = Readonly<Record<string, unknown>> & { readonly id: number; readonly type: string };

/** What the instance sends besides its usual answers. */
export type SentAlso = (message: Message) => readonly object[];

/** An instance with one smoke alarm, in memory: it answers each message at once, and sends what the test says. */
export class AnsweringInstance {
  readonly runtime: ManualRuntime = manualRuntime();
  readonly access = "http://home.example tok";
  readonly connector: Connector;
  readonly reached: LimitName[] = [];
  /** The messages of the sessions, in order. */
  readonly received: Message[] = [];
  #socket: AnsweringSocket | undefined;
  readonly #sentAlso: SentAlso;
  readonly #results: Results;

  /** `results`: other answers than those of the home with one smoke alarm. */
  constructor(
    sentAlso: SentAlso,
    { results = {} as Results, turns = immediateTurns as HomeAssistantOptions["turns"] } = {},
  ) {
    this.#sentAlso = sentAlso;
    this.#results = { ...smokeHome, ...results };
    this.connector = homeAssistantConnector({
      name: "home",
      allowPrivateNetworks: true,
      timers: this.runtime,
      ...(turns && { turns }),
      onLimitReached: (limit) => void this.reached.push(limit),
      openSocket: async () => this.#open() as unknown as WebSocket,
    });
  }

  get isPaused(): boolean {
    return this.#socket?.isPaused === true;
  }

  /** Sends a message on the last opened session. */
  send(message: object): void {
    this.#socket?.emit("message", JSON.stringify(message), false);
  }

  /** The id of the last message of this type. */
  idOf(type: string, fits: (message: Message) => boolean = () => true): number {
    const found = this.received.findLast((message) => message.type === type && fits(message));
    if (!found) throw new Error(`no ${type} was received`);
    return found.id;
  }

  #open(): AnsweringSocket {
    const socket = new AnsweringSocket((message) => this.#answersTo(message));
    this.#socket = socket;
    setImmediate(() => socket.emit("message", JSON.stringify({ type: "auth_ok" }), false));
    return socket;
  }

  #answersTo(message: Message): readonly object[] {
    this.received.push(message);
    const { id, type } = message;
    if (type === "auth") return [];
    if (type === "ping") return [{ id, type: "pong" }];
    return [{ id, type: "result", success: true, result: this.#results[type] ?? null }, ...this.#sentAlso(message)];
  }
}

const attributes = { device_class: "smoke", friendly_name: "Smoke" };

/** All states, or a change, as a subscription sends them. */
export function smokeEvent(id: number, state: "on" | "off"): object {
  const added = { "binary_sensor.smoke": { s: state, a: attributes, c: `context of ${state}` } };
  return { id, type: "event", event: { a: added } };
}

type Results = Readonly<Record<string, unknown>>;

const smokeHome: Results = {
  "config/entity_registry/list": [
    {
      entity_id: "binary_sensor.smoke",
      id: "r1",
      unique_id: "u1",
      platform: "x",
      device_id: null,
      area_id: null,
      disabled_by: null,
      hidden_by: null,
      entity_category: null,
      original_device_class: "smoke",
      device_class: null,
    },
  ],
  "config/device_registry/list": [],
  "config/area_registry/list": [],
  get_config: { state: "RUNNING", unit_system: { temperature: "°C" }, location_name: "Home", components: [] },
  get_states: [{ entity_id: "binary_sensor.smoke", state: "off", attributes, context: { id: "first" } }],
};

class AnsweringSocket extends EventEmitter {
  readonly #answersTo: (message: Message) => readonly object[];

  constructor(answersTo: (message: Message) => readonly object[]) {
    super();
    this.#answersTo = answersTo;
  }

  send(text: string): void {
    const answers = this.#answersTo(JSON.parse(text) as Message);
    setImmediate(() => {
      for (const answer of answers) this.emit("message", JSON.stringify(answer), false);
    });
  }

  terminate(): void {
    setImmediate(() => this.emit("close"));
  }

  isPaused = false;

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }
}
