import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export type Handle = (request: IncomingMessage, response: ServerResponse) => unknown;

/** A web application around a library. It listens before its handler is set. */
export interface Application {
  readonly url: string;
  handle: Handle;
}

export async function startApplication(test: TestContext): Promise<Application> {
  const application = { url: "", handle: (() => undefined) as Handle };
  const server = createServer((request, response) => application.handle(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  test.after(() => {
    server.close();
    server.closeAllConnections();
  });
  application.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return application;
}
