import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { Connection } from "./connection.ts";
import { type Faults, noFaults } from "./faults.ts";
import { furnish } from "./house.ts";
import { answerHttp } from "./http.ts";
import { Instance } from "./instance.ts";
import { Tokens } from "./tokens.ts";

export interface HomeAssistantOptions {
  readonly port?: number;
  readonly temperatureUnit?: "°C" | "°F";
  /** False: the instance begins without devices. */
  readonly isFurnished?: boolean;
}

/** A simulated Home Assistant instance on loopback: its WebSocket interface, its login page and the token endpoints. */
export interface HomeAssistant {
  readonly url: string;
  readonly port: number;
  readonly instance: Instance;
  readonly tokens: Tokens;
  readonly faults: Faults;
  readonly connections: ReadonlySet<Connection>;
  /** A person deletes a token on the profile page: its connections end. */
  deleteToken(token: string): void;
  /** The instance ends all connections. */
  hangUp(): void;
  /**
   * The instance restarts: connections break, and all entities are restored from before, as unavailable. It stays
   * STARTING until `finishStart`.
   */
  restart(): void;
  /** Integrations are loaded: the entities have their states again, and the instance is RUNNING. */
  finishStart(): void;
  /** Updates one entity this often at once. */
  flood(entityId: string, count: number): void;
  stop(): Promise<void>;
}

export async function startHomeAssistant(options: HomeAssistantOptions = {}): Promise<HomeAssistant> {
  const instance = new Instance(options.temperatureUnit ?? "°C");
  if (options.isFurnished ?? true) furnish(instance);
  const parts = { instance, tokens: new Tokens(), faults: noFaults() };
  const { tokens, faults } = parts;
  const connections = new Set<Connection>();
  const sockets = new WebSocketServer({ noServer: true });
  const endAll = (isWanted: (connection: Connection) => boolean, end: "close" | "destroy") => {
    for (const connection of [...connections]) if (isWanted(connection)) connection[end]();
  };
  const deleteToken = (token: string) => {
    const ended = tokens.delete(token);
    endAll((connection) => connection.token !== undefined && ended.includes(connection.token), "close");
  };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    answerHttp(request, response, { instance, tokens, deleteToken });
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (request.url !== "/api/websocket" || faults.refusal !== undefined) {
      return void socket.end(refusalText(faults.refusal ?? 404));
    }
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const connection = new Connection(opened, parts);
      connections.add(connection);
      opened.on("close", () => {
        connections.delete(connection);
        instance.listeners.delete(connection);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  let before = new Map(instance.states);

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    instance,
    tokens,
    faults,
    connections,
    deleteToken,
    hangUp: () => endAll(() => true, "close"),
    restart() {
      endAll(() => true, "destroy");
      instance.runState = "STARTING";
      before = new Map(instance.states);
      instance.states.clear();
      for (const [entityId, { attributes }] of before) {
        if (!instance.entities.has(entityId)) continue;
        instance.set(entityId, "unavailable", { ...described(attributes), restored: true });
      }
    },
    finishStart() {
      for (const [entityId, { state, attributes }] of before) instance.set(entityId, state, attributes);
      instance.runState = "RUNNING";
    },
    flood(entityId, count) {
      for (let i = 0; i < count; i++) instance.change(entityId, undefined, { flood: i });
    },
    async stop() {
      endAll(() => true, "destroy");
      sockets.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The attributes that an unavailable entity still has. */
function described(attributes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = ["friendly_name", "device_class", "supported_features", "hvac_modes", "min_temp", "max_temp"];
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => kept.includes(name)));
}

function refusalText(status: number): string {
  const location = status >= 300 && status < 400 ? "Location: http://127.0.0.1:1/api/websocket\r\n" : "";
  return `HTTP/1.1 ${status} Refused\r\n${location}Content-Length: 0\r\nConnection: close\r\n\r\n`;
}
