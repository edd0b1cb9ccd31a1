import { createSocket } from "node:dgram";
import { once } from "node:events";

/** A name server that accepts queries and never answers. It needs port 53, so it needs root. */
export async function silentNameServer(): Promise<{ readonly address: string; close(): void }> {
  const address = "127.0.0.153";
  const socket = createSocket("udp4");
  socket.bind(53, address);
  await once(socket, "listening");
  return { address, close: () => socket.close() };
}

export const canBindNameServer: boolean = process.platform === "linux" && process.getuid?.() === 0;
