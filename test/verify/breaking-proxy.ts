import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";

export interface ProxiedRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One fault between a client and the service. */
export interface Fault {
  readonly changeRequest?: (request: ProxiedRequest) => ProxiedRequest;
  /** An answer in place of the service's. */
  readonly answerInstead?: (request: ProxiedRequest) => Answer | undefined;
  readonly changeAnswer?: (answer: Answer, request: ProxiedRequest) => Answer;
  /** Whether an event of a stream is passed on. */
  readonly passesFrame?: (frame: string) => boolean;
}

/**
 * A proxy in front of the service that injects one fault. As a gateway would, it replaces the service's address in
 * answers by its own.
 */
export async function breakingProxy(test: TestContext, target: () => string, fault: Fault = {}): Promise<string> {
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
    const original: ProxiedRequest = { method, path, headers, body: await text(incoming) };
    const passed = fault.changeRequest?.(original) ?? original;
    const instead = fault.answerInstead?.(passed);
    if (instead) return send(outgoing, instead);
    const { hostname, port } = new URL(target());
    const sent = request({
      hostname,
      port,
      method: passed.method,
      path: passed.path,
      headers: passed.headers,
      agent: false,
    });
    outgoing.on("close", () => sent.destroy());
    sent.end(passed.body);
    const [answered] = (await once(sent, "response")) as [IncomingMessage];
    if (answered.headers["content-type"]?.startsWith("text/event-stream")) return stream(answered, outgoing);
    const answer = {
      status: answered.statusCode ?? 0,
      headers: withProxyAddress(answered.headers),
      body: (await text(answered)).replaceAll(target(), url),
    };
    send(outgoing, fault.changeAnswer?.(answer, passed) ?? answer);
  }

  /** Replaces the service's own address in the issuer and in redirects. */
  function withProxyAddress(headers: IncomingHttpHeaders): IncomingHttpHeaders {
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
      for (const frame of frames) if (fault.passesFrame?.(frame) ?? true) outgoing.write(`${frame}\n\n`);
    }
    outgoing.end();
  }
}

function send(outgoing: ServerResponse, { status, headers, body }: Answer): void {
  const { "transfer-encoding": _, ...kept } = headers;
  outgoing.writeHead(status, { ...kept, "content-length": Buffer.byteLength(body) });
  outgoing.end(body);
}
