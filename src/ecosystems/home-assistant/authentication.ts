import type WebSocket from "ws";
import { handshakeBounds, isJsonObject, parseUntrusted } from "../../runtime/json/untrusted-json.ts";
import type { StreamEnd } from "../connector.ts";
import { errorDetail } from "./socket.ts";

/** The first phase of a session. Undefined when the instance has accepted the token. */
export function authenticate(socket: WebSocket, token: string, signal: AbortSignal): Promise<StreamEnd | undefined> {
  return new Promise((resolve) => {
    const settle = (end?: StreamEnd) => {
      socket.off("message", take).off("close", close).off("error", fail);
      signal.removeEventListener("abort", abort);
      resolve(end);
    };
    const close = () => settle({ reason: "closed", detail: "the instance ended the connection" });
    const abort = () => settle({ reason: "unreachable", detail: "no answer in time" });
    const fail = (error: Error) => settle({ reason: "malformed", detail: errorDetail(error) });
    let isTokenSent = false;
    const take = (data: WebSocket.RawData) => {
      const message = parseUntrusted(String(data), handshakeBounds);
      const type = isJsonObject(message) ? message.type : undefined;
      if (type === "auth_required" && !isTokenSent) {
        isTokenSent = true;
        socket.send(JSON.stringify({ type: "auth", access_token: token }));
      } else if (type === "auth_ok") settle();
      else if (type === "auth_invalid") settle({ reason: "unauthorized", detail: "the instance refused the token" });
      else settle({ reason: "malformed", detail: "the instance does not speak the protocol" });
    };
    socket.on("message", take).once("close", close).once("error", fail);
    socket.resume();
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
  });
}
