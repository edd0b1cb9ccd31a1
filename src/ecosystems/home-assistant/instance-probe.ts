import type WebSocket from "ws";
import { handshakeBounds, isJsonObject, parseUntrusted } from "../../runtime/json/untrusted-json.ts";
import type { AddressRules } from "../../runtime/network/public-address.ts";
import type { Obstacle } from "./address-advice.ts";
import { openSocket } from "./socket.ts";

/** An instance asks for a token in less than 100 bytes. */
const largestQuestionBytes = 4_096;

/**
 * Whether an instance answers at an address: it asks for a token on a new WebSocket. No token is presented, because an
 * instance counts wrong ones. Undefined: it does; otherwise the reason. Never throws.
 */
export async function probeInstance(url: URL, rules: AddressRules, signal: AbortSignal): Promise<Obstacle | undefined> {
  const socket = await openSocket(url, rules, signal, { maxPayload: largestQuestionBytes });
  if ("end" in socket) return socket.obstacle;
  const isInstance = await asksForToken(socket, signal);
  socket.terminate();
  if (isInstance) return undefined;
  return signal.aborted ? "silent" : "foreign";
}

function asksForToken(socket: WebSocket, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isInstance: boolean) => {
      signal.removeEventListener("abort", giveUp);
      resolve(isInstance);
    };
    const giveUp = () => settle(false);
    socket.once("message", (data) => {
      const message = parseUntrusted(String(data), handshakeBounds);
      settle(isJsonObject(message) && message.type === "auth_required");
    });
    socket.once("close", giveUp);
    signal.addEventListener("abort", giveUp, { once: true });
    socket.resume();
    if (signal.aborted) giveUp();
  });
}
