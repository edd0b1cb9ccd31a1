import type { WebSocket } from "ws";
import { answerCommand, type Client, type Message } from "./commands.ts";
import { compressedDifference, compressedState } from "./compressed-state.ts";
import type { Faults } from "./faults.ts";
import type { EntityState, Instance, InstanceListener, RegistryName } from "./instance.ts";
import { Refused } from "./refused.ts";
import type { Tokens } from "./tokens.ts";

export interface ConnectionParts {
  readonly instance: Instance;
  readonly tokens: Tokens;
  readonly faults: Faults;
}

/** One WebSocket connection of a client, from its authentication to its end. */
export class Connection implements Client, InstanceListener {
  readonly parts: ConnectionParts;
  readonly #socket: WebSocket;
  readonly entitySubscriptions = new Map<number, ReadonlySet<string> | undefined>();
  readonly eventSubscriptions = new Map<number, string>();
  /** Undefined before the client has authenticated. */
  token: string | undefined;
  #lastId = 0;
  coalesces = false;
  #waiting: object[] = [];
  /** Events that a fault holds back. */
  #held: object[] = [];

  constructor(socket: WebSocket, parts: ConnectionParts) {
    this.#socket = socket;
    this.parts = parts;
    socket.on("message", (data) => this.#receive(String(data)));
    socket.on("error", () => undefined);
    this.send({ type: "auth_required", ha_version: parts.instance.version });
  }

  send(message: object): void {
    if (this.parts.faults.isMute) return;
    if (!this.coalesces) return void this.#socket.send(JSON.stringify(message));
    // With coalesced messages, everything that one turn of the event loop produces is one frame.
    this.#waiting.push(message);
    if (this.#waiting.length === 1) setImmediate(() => this.#flush());
  }

  /** Sends the events that a fault has held back, in their order. */
  release(): void {
    for (const event of this.#held.splice(0)) this.send(event);
  }

  close(): void {
    this.parts.instance.listeners.delete(this);
    this.#socket.close();
  }

  /** Ends the connection without the closing handshake, as a crashed instance does. */
  destroy(): void {
    this.parts.instance.listeners.delete(this);
    this.#socket.terminate();
  }

  stateChanged(entityId: string, before: EntityState | undefined, after: EntityState | undefined): void {
    for (const [id, wanted] of this.entitySubscriptions) {
      if (wanted && !wanted.has(entityId)) continue;
      this.#sendEvent({ id, type: "event", event: eventOf(entityId, before, after) });
    }
  }

  registryUpdated(registry: RegistryName, data: Readonly<Record<string, unknown>>): void {
    this.#tell(`${registry}_registry_updated`, data);
  }

  configUpdated(): void {
    this.#tell("core_config_updated", {});
  }

  #tell(eventType: string, data: Readonly<Record<string, unknown>>): void {
    for (const [id, type] of this.eventSubscriptions) {
      if (type !== eventType) continue;
      this.#sendEvent({ id, type: "event", event: { event_type: eventType, data, origin: "LOCAL" } });
    }
  }

  #sendEvent(event: object): void {
    if (this.parts.faults.holdsEvents) this.#held.push(event);
    else this.send(event);
  }

  #flush(): void {
    const messages = this.#waiting;
    this.#waiting = [];
    this.#socket.send(JSON.stringify(messages.length === 1 ? messages[0] : messages));
  }

  #receive(text: string): void {
    if (this.parts.faults.isMute) return;
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      this.close();
      return;
    }
    if (this.token === undefined) this.#authenticate(message as Record<string, unknown>);
    else for (const one of Array.isArray(message) ? message : [message]) this.#answer(one as Message);
  }

  #authenticate({ type, access_token: token }: Record<string, unknown>): void {
    const { tokens, instance } = this.parts;
    if (type !== "auth" || !tokens.isValid(token)) {
      this.send({ type: "auth_invalid", message: "Invalid access token or password" });
      this.close();
      return;
    }
    this.token = token;
    instance.listeners.add(this);
    this.send({ type: "auth_ok", ha_version: instance.version });
  }

  #answer(message: Message): void {
    const { id } = message;
    if (!Number.isInteger(id) || id <= this.#lastId) {
      this.#refuse(id, "id_reuse", "Identifier values have to increase.");
      return;
    }
    this.#lastId = id;
    if (this.parts.faults.ignoresCommand(message.type)) return;
    try {
      answerCommand(this, message);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#refuse(id, error.code, error.message);
    }
  }

  #refuse(id: number, code: string, message: string): void {
    this.send({ id, type: "result", success: false, error: { code, message } });
  }
}

function eventOf(entityId: string, before: EntityState | undefined, after: EntityState | undefined): object {
  if (!after) return { r: [entityId] };
  if (!before) return { a: { [entityId]: compressedState(after) } };
  return { c: { [entityId]: compressedDifference(before, after) } };
}
