import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { eventually } from "../stories/world.ts";

export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
  readonly message: any;
}

/** A webhook receiver; the test decides how it answers, and whether it listens. */
export async function receiver(t: TestContext) {
  const received: Received[] = [];
  const behaviour = {
    answer: (_: Received): { status: number; headers?: Record<string, string> } => ({ status: 204 }),
  };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    const headers = request.headers as Record<string, string>;
    const one = { path: request.url ?? "", headers, body, message: JSON.parse(body) };
    received.push(one);
    const answer = behaviour.answer(one);
    response.writeHead(answer.status, answer.headers).end();
  });
  const listen = async (port: number) => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  const goDown = () => {
    server.closeAllConnections();
    server.close();
  };
  t.after(goDown);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    behaviour,
    /** Stops listening. */
    goDown,
    comeBack: () => listen(port),
    until: (count: number) =>
      eventually(t.signal, async () => {
        if (received.length < count) throw new Error(`received ${received.length} of ${count}`);
      }),
  };
}
