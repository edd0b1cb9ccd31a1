import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { closed } from "../set-up/closed-socket.ts";

/** A connection whose stream of events has begun and that reads no further. */
export async function openSleeping(
  baseUrl: string,
  token: string,
  { query = "", lastEventId }: { readonly query?: string; readonly lastEventId?: string } = {},
): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  const resume = lastEventId === undefined ? "" : `Last-Event-ID: ${lastEventId}\r\n`;
  socket.write(`GET /v3/events${query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${resume}\r\n`);
  await once(socket, "readable");
  return socket;
}

/** Reads everything that is left. */
export async function wakeUp(socket: Socket): Promise<string> {
  let read = "";
  socket.setEncoding("utf8").on("data", (part: string) => {
    read += part;
  });
  // A reader that paused for too long was disconnected.
  await closed(socket);
  return read;
}
