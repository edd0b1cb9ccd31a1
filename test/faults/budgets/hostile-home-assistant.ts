import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { type WebSocket, WebSocketServer } from "ws";
import { type RawAnswer, sendRaw } from "./raw-answers.ts";

/** The state of an entity by its id, as `get_states` lists it. */
export type Entities = ReadonlyMap<string, EntityState>;

interface EntityState {
  readonly state: string;
  readonly attributes: object;
}

/** What an instance sends instead of its honest messages. */
export interface Script {
  /** The first message of a connection. */
  readonly greeting?: string;
  /** The answer to a call of this type: raw text of one WebSocket message. */
  readonly answers?: Readonly<Record<string, (id: number) => string>>;
  /** The first event of the subscription to entities. */
  readonly firstEvent?: (id: number) => string;
  /** The answer to the HTTP request that opens a WebSocket. */
  readonly opening?: RawAnswer;
  /** The answer of the token endpoint. */
  readonly tokens?: RawAnswer;
}

export const honest: Script = {};

export interface SessionEnd {
  /** How long after the last scripted message. */
  readonly atMs: number;
}

/** One WebSocket of the service. */
export class HostileSession {
  readonly socket: WebSocket;
  /** Under the WebSocket, for frames that no library sends. */
  readonly raw: Socket;
  /** The token of the account; empty before it was presented. */
  token = "";
  /** It follows the home: a read of the home subscribes to no registry. */
  isFollowing = false;
  /** The id of the subscription to entities, when its first event was sent. */
  subscription: number | undefined;
  /** The entities of the subscription. */
  entityIds: readonly string[] = [];
  endedMs: number | undefined;
  readonly ended: Promise<void>;

  constructor(socket: WebSocket, raw: Socket) {
    this.socket = socket;
    this.raw = raw;
    this.ended = new Promise((resolve) => {
      socket.once("close", () => {
        this.endedMs = performance.now();
        resolve();
      });
    });
  }

  get hasEnded(): boolean {
    return this.endedMs !== undefined;
  }

  /** Sends text, and waits until the socket has room again or the session has ended. */
  async send(text: string | Buffer, options: { readonly binary?: boolean; readonly fin?: boolean } = {}) {
    this.socket.send(text, { binary: false, ...options });
    await this.drained();
  }

  /** Sends bytes under the WebSocket. */
  async write(bytes: Buffer): Promise<void> {
    if (!this.raw.destroyed) this.raw.write(bytes);
    await this.drained();
  }

  async drained(): Promise<void> {
    while (!this.hasEnded && this.raw.writableLength > 1_048_576) await pause(5);
  }

  /** Sends an event of the subscription to entities. */
  event(event: object): Promise<void> {
    return this.send(JSON.stringify({ id: this.subscription, type: "event", event }));
  }

  /** Whether the service has read everything that was sent before; false when the time is up or the session has ended. */
  async hasRead(limitMs: number): Promise<boolean> {
    const untilMs = performance.now() + limitMs;
    const isLeft = () => !this.hasEnded && performance.now() < untilMs;
    const state = { isHeard: false };
    const mark = Buffer.from(`mark ${performance.now()}`);
    const hear = (data: Buffer) => {
      state.isHeard ||= data.equals(mark);
    };
    this.socket.on("pong", hear);
    if (this.socket.readyState === this.socket.OPEN) this.socket.ping(mark);
    while (!state.isHeard && isLeft()) await pause(5);
    this.socket.off("pong", hear);
    return state.isHeard;
  }
}

/** A Home Assistant that behaves well until it gets a script. It is one instance for any number of accounts. */
export class HostileHomeAssistant {
  readonly url: string;
  readonly sessions = new Set<HostileSession>();
  /** The entities of all accounts. */
  entities: Entities = lights(2);
  /** Chooses the script of a session, and of an HTTP request, which has no token. */
  scriptFor: (token: string) => Script = () => honest;
  /** Called when a session follows the home. */
  onFollowed: (session: HostileSession) => void = () => undefined;
  /** Called at each opened WebSocket. */
  onOpened: (session: HostileSession) => void = () => undefined;
  readonly #sockets = new Set<Socket>();

  private constructor(url: string) {
    this.url = url;
  }

  static async start(): Promise<HostileHomeAssistant> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    server.unref();
    const instance = new HostileHomeAssistant(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
    server.on("connection", (socket: Socket) => {
      instance.#sockets.add(socket);
      socket.on("error", () => undefined).once("close", () => instance.#sockets.delete(socket));
    });
    server.on("request", (request, response) => void instance.#answer(request, response));
    server.on("upgrade", (request: IncomingMessage, raw: Socket, head: Buffer) => {
      const { opening } = instance.scriptFor("");
      if (opening) return void sendRaw(raw, opening);
      sockets.handleUpgrade(request, raw, head, (socket) => instance.#open(new HostileSession(socket, raw)));
    });
    return instance;
  }

  /** All accounts play this script from their next message on. */
  play(script: Script): void {
    this.scriptFor = () => script;
  }

  hangUp(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The next WebSocket; undefined when the time is up. */
  nextSession(limitMs: number): Promise<HostileSession | undefined> {
    return within(limitMs, (resolve) => {
      this.onOpened = resolve;
    });
  }

  /** The next session that follows the home; undefined when the time is up. */
  nextFollower(limitMs: number): Promise<HostileSession | undefined> {
    return within(limitMs, (resolve) => {
      this.onFollowed = resolve;
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    const { tokens } = this.scriptFor("");
    if (tokens) return void sendRaw(response.socket!, tokens);
    const granted = { access_token: "hostile", refresh_token: "hostile", token_type: "Bearer", expires_in: 1_800 };
    response.setHeader("content-type", "application/json").end(JSON.stringify(granted));
  }

  #open(session: HostileSession): void {
    this.sessions.add(session);
    const { socket } = session;
    socket.on("error", () => undefined);
    void session.ended.then(() => this.sessions.delete(session));
    socket.on("message", (data) => {
      const message = JSON.parse(String(data)) as Call;
      if (message.type !== "auth") return this.#reply(session, message);
      session.token = message.access_token ?? "";
      socket.send(JSON.stringify({ type: "auth_ok", ha_version: "2026.1.0" }));
    });
    socket.send(this.scriptFor("").greeting ?? JSON.stringify({ type: "auth_required", ha_version: "2026.1.0" }));
    this.onOpened(session);
  }

  #reply(session: HostileSession, { id, type, entity_ids: entityIds }: Call): void {
    const { socket } = session;
    const script = this.scriptFor(session.token);
    const scripted = script.answers?.[type];
    if (scripted) socket.send(scripted(id));
    else if (type === "ping") socket.send(JSON.stringify({ id, type: "pong" }));
    else socket.send(JSON.stringify({ id, type: "result", success: true, result: this.#resultOf(type) }));
    if (type === "subscribe_events") session.isFollowing = true;
    if (type !== "subscribe_entities" || entityIds?.length === 1) return;
    session.entityIds = entityIds ?? [];
    const shown = new Set(session.entityIds);
    const known = [...this.entities].filter(([entityId]) => shown.has(entityId));
    const states = Object.fromEntries(
      known.map(([entityId, { state, attributes }]) => [entityId, { s: state, a: attributes }]),
    );
    socket.send(script.firstEvent?.(id) ?? JSON.stringify({ id, type: "event", event: { a: states } }));
    session.subscription = id;
    if (session.isFollowing) this.onFollowed(session);
  }

  #resultOf(type: string): unknown {
    const entries = [...this.entities];
    if (type === "config/entity_registry/list") return entries.map(([entityId]) => registered(entityId));
    if (type.endsWith("_registry/list")) return [];
    if (type === "get_states") {
      return entries.map(([entityId, { state, attributes }]) => ({ entity_id: entityId, state, attributes }));
    }
    if (type !== "get_config") return null;
    return { unit_system: { temperature: "°C" }, location_name: "Hostile", state: "RUNNING" };
  }
}

interface Call {
  readonly id: number;
  readonly type: string;
  readonly access_token?: string;
  readonly entity_ids?: readonly string[];
}

let running: Promise<HostileHomeAssistant> | undefined;

/** The instance of this process. */
export function hostileHomeAssistant(): Promise<HostileHomeAssistant> {
  running ??= HostileHomeAssistant.start();
  return running;
}

export function lightId(place: number): string {
  return `light.lamp_${place}`;
}

/** A home of lights, with one smoke alarm: its text must be looked for in every frame. */
export function lights(count: number): Entities {
  const all = Array.from({ length: count }, (_, place) => [lightId(place), light(place)] as const);
  const alarm = { state: "off", attributes: { device_class: "smoke", friendly_name: "Smoke" } };
  return new Map<string, EntityState>([...all, ["binary_sensor.smoke", alarm]]);
}

function light(place: number) {
  const modes = { supported_color_modes: ["brightness"], color_mode: "brightness" };
  return { state: "on", attributes: { ...modes, brightness: 100, friendly_name: `Lamp ${place}` } };
}

function registered(entityId: string) {
  const nothing = {
    device_id: null,
    area_id: null,
    name: null,
    entity_category: null,
    disabled_by: null,
    hidden_by: null,
  };
  return { id: `r_${entityId}`, entity_id: entityId, original_name: entityId, platform: "hostile", ...nothing };
}

function within<Value>(limitMs: number, start: (resolve: (value: Value) => void) => void): Promise<Value | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), limitMs);
    start((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
