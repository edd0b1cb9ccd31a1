import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { Connection, type ConnectionParts } from "./connection.ts";

export interface Sockets {
  readonly connections: ReadonlySet<Connection>;
  /** Ends connections: with the closing handshake, or without it as a crashed instance does. */
  end(isWanted: (connection: Connection) => boolean, how: "close" | "destroy"): void;
  close(): void;
}

/** Accepts WebSocket connections on a server. */
export function acceptSockets(server: Server, parts: ConnectionParts): Sockets {
  const connections = new Set<Connection>();
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => undefined);
    const { refusal } = parts.faults;
    if (request.url !== "/api/websocket" || refusal !== undefined) return void socket.end(refusalText(refusal ?? 404));
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const connection = new Connection(opened, parts);
      connections.add(connection);
      opened.on("close", () => {
        connections.delete(connection);
        parts.instance.listeners.delete(connection);
      });
    });
  });
  return {
    connections,
    end(isWanted, how) {
      for (const connection of [...connections]) if (isWanted(connection)) connection[how]();
    },
    close: () => sockets.close(),
  };
}

function refusalText(status: number): string {
  const location = status >= 300 && status < 400 ? "Location: http://127.0.0.1:1/api/websocket\r\n" : "";
  return `HTTP/1.1 ${status} Refused\r\n${location}Content-Length: 0\r\nConnection: close\r\n\r\n`;
}
