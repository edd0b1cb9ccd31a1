import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  stop(): Promise<void>;
}

/** An HTTP server on loopback that keeps all requests and answers each with `text`. */
export async function startReceiver(port = 0, text = ""): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    try {
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
    } catch {
      // The request broke off. Without this its error would end the process, in the service's own verification too.
      return;
    }
    received.push({ path: request.url ?? "", headers: request.headers, body });
    response.writeHead(200, { "content-type": "text/plain; charset=utf-8", connection: "close" }).end(text);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    async stop() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
