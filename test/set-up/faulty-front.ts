import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What stands in front of the service does: passes all on, answers 503 or 429, or keeps streams open and silent. */
export type FrontMood = "open" | "unavailable" | "too many calls" | "silent streams";

/** An HTTP proxy in front of a service, which fails in ways of its own. */
export async function faultyFront(test: { after(act: () => void): void }, target: string) {
  let mood: FrontMood = "open";
  const server = createServer((incoming, answer) => {
    if (mood === "unavailable") return void answer.writeHead(503, { "retry-after": "1" }).end("Service Unavailable");
    if (mood === "too many calls") return void answer.writeHead(429, { "retry-after": "1" }).end("Too Many Requests");
    const { method, headers, url = "/" } = incoming;
    const passed = request(new URL(url, target), { method, headers }, (far) => {
      answer.writeHead(far.statusCode ?? 502, far.headers);
      const isStream = far.headers["content-type"]?.startsWith("text/event-stream") === true;
      far.on("data", (piece) => {
        if (!isStream || mood !== "silent streams") answer.write(piece);
      });
      far.on("end", () => answer.end());
      far.on("error", () => answer.destroy());
    });
    passed.on("error", () => answer.destroy());
    (answer as ServerResponse).on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Breaks every open connection. */
    drop: () => server.closeAllConnections(),
    become(next: FrontMood) {
      mood = next;
    },
  };
}
