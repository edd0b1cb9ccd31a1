import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";

/** An ecosystem that sends exactly the bytes of a test, on its own free port. */
export interface ByteServer {
  readonly url: string;
  readonly port: number;
  /** In the format of `allowedHosts`. */
  readonly host: string;
  /** The head of each request, in order. */
  readonly requests: string[];
}

/** `answer` gets each connection when its request's head has arrived, with the number of earlier requests. */
export async function startByteServer(
  t: TestContext,
  answer: (socket: Socket, index: number) => void,
): Promise<ByteServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    let head = "";
    socket.on("data", (bytes) => {
      if (head.includes("\r\n\r\n")) return;
      head += bytes.toString("latin1");
      if (head.includes("\r\n\r\n")) answer(socket, requests.push(head) - 1);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, host: `127.0.0.1:${port}`, requests };
}

export const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

export function answerOf(status: number, body = "", headers = ""): string {
  return `HTTP/1.1 ${status} Answer\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

export function redirectTo(location: string): string {
  return answerOf(307, "", `Location: ${location}\r\n`);
}

export function frame(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

export function putFrame(document: unknown): string {
  return frame("put", JSON.stringify({ path: "/", data: document }));
}
