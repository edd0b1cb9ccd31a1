import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";

export interface Asked {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One thing that goes wrong between a client and the service. */
export interface Breaking {
  readonly ask?: (asked: Asked) => Asked;
  /** In place of the service. */
  readonly answerFor?: (asked: Asked) => Answer | undefined;
  readonly answer?: (answer: Answer, asked: Asked) => Answer;
  /** Whether a frame of a stream of events gets through. */
  readonly lets?: (frame: string) => boolean;
}

/**
 * Stands before the service as a gateway would, under an address of its own that it also puts into the answers, and
 * breaks one thing.
 */
export async function breakingProxy(test: TestContext, target: () => string, breaking: Breaking = {}): Promise<string> {
  const server = createServer((incoming, outgoing) => void pass(incoming, outgoing).catch(() => outgoing.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  test.after(async () => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return url;

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "GET", url: path = "/", headers } = incoming;
    const original: Asked = { method, path, headers, body: await text(incoming) };
    const asked = breaking.ask?.(original) ?? original;
    const instead = breaking.answerFor?.(asked);
    if (instead) return send(outgoing, instead);
    const { hostname, port } = new URL(target());
    const sent = request({
      hostname,
      port,
      method: asked.method,
      path: asked.path,
      headers: asked.headers,
      agent: false,
    });
    outgoing.on("close", () => sent.destroy());
    sent.end(asked.body);
    const [answered] = (await once(sent, "response")) as [IncomingMessage];
    if (answered.headers["content-type"]?.startsWith("text/event-stream")) return stream(answered, outgoing);
    const answer = {
      status: answered.statusCode ?? 0,
      headers: readdressed(answered.headers),
      body: (await text(answered)).replaceAll(target(), url),
    };
    send(outgoing, breaking.answer?.(answer, asked) ?? answer);
  }

  /** The service's own address stands in the issuer's name and in redirects. */
  function readdressed(headers: IncomingHttpHeaders): IncomingHttpHeaders {
    const location = headers.location
      ?.replaceAll(target(), url)
      .replaceAll(encodeURIComponent(target()), encodeURIComponent(url));
    return location === undefined ? headers : { ...headers, location };
  }

  async function stream(answered: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    let unread = "";
    for await (const chunk of answered.setEncoding("utf8")) {
      const frames = (unread + chunk).split("\n\n");
      unread = frames.pop() ?? "";
      for (const frame of frames) if (breaking.lets?.(frame) ?? true) outgoing.write(`${frame}\n\n`);
    }
    outgoing.end();
  }
}

function send(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  const { "transfer-encoding": _, ...kept } = headers;
  outgoing.writeHead(status, { ...kept, "content-length": Buffer.byteLength(body) });
  outgoing.end(body);
}
