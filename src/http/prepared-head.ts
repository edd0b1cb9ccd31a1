import { everyAnswer } from "./exchange.ts";

/** How long a connection on which nothing is asked stays open. */
export const keepAliveMs = 72_000;

/** Stands for what is another in each answer. */
const slot = "\0";

/**
 * The head of answers that have the same headers, but for the request's id, the length and the date: the same bytes that
 * Node makes of them, without asking it for each.
 */
export function preparedHead(headers: Readonly<Record<string, string>>): (requestId: string, length: number) => string {
  const all = { ...everyAnswer(slot), ...headers, "content-length": slot };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const [start, middle, end] = `HTTP/1.1 200 OK\r\n${lines.join("")}`.split(slot);
  const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveMs / 1_000}\r\n\r\n`;
  return (requestId, length) => `${start}${requestId}${middle}${length}${end}Date: ${httpDate()}\r\n${keepAlive}`;
}

let dateText = "";
let dateSecond = 0;

/** It has no parts of a second, and making it costs more than looking whether it is still the same. */
function httpDate(): string {
  const nowMs = Date.now();
  const second = Math.floor(nowMs / 1_000);
  if (second !== dateSecond) {
    dateText = new Date(nowMs).toUTCString();
    dateSecond = second;
  }
  return dateText;
}
