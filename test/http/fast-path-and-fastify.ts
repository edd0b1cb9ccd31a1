import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { connect as connectTls, type SecureContextOptions } from "node:tls";
import { allowOrigins, corsHeaders } from "../../src/http/answer/cors.ts";
import { appOn } from "../../src/http/app.ts";
import { type ExchangeListener, Exchanges, transportHeaders } from "../../src/http/open-exchanges.ts";
import { addRoutes } from "../../src/http/routes.ts";
import { defaultHttpLimits } from "../../src/http/server.ts";
import { StoreUnavailable } from "../../src/model/errors.ts";
import { DeviceAnswerCache } from "../../src/outlets/v3/device-body.ts";
import { deviceFastPath } from "../../src/outlets/v3/device-fast-path.ts";
import { deviceRoutes } from "../../src/outlets/v3/device-routes.ts";
import { collecting, type Reported } from "../platform/made-platform.ts";
import { closed } from "../set-up/closed-socket.ts";
import { madeV3 } from "./made-v3.ts";

export interface ServerSettings {
  readonly corsOrigins?: readonly string[];
  readonly trustedProxies?: readonly string[];
  readonly tls?: SecureContextOptions & { readonly ca: string };
}

export type TestServer = Awaited<ReturnType<typeof fastPathAndFastify>>["fastPath"];

/**
 * The same devices behind two servers: one with the fast path, one with Fastify only. The look-up of the tokens
 * `store-down` and `broken` fails; a test may replace `tokens.verify`.
 */
export async function fastPathAndFastify(
  t: TestContext,
  { corsOrigins = [], trustedProxies = [], tls }: ServerSettings = {},
) {
  const world = await madeV3(t);
  const tokens = {
    async verify(token: string) {
      if (token === "store-down") throw new StoreUnavailable("The store is away.");
      if (token === "broken") throw new Error("An unexpected error.");
      return world.callers.byAccessToken(token);
    },
  };
  const callers = { ...world.callers, byAccessToken: (token: string) => tokens.verify(token) };
  const startServer = async (hasFastPath: boolean) => {
    const reported: Reported[] = [];
    const finished: Parameters<ExchangeListener>[0][] = [];
    const report = collecting(reported);
    const exchanges = new Exchanges(report, {
      onExchange: (exchange) => finished.push(exchange),
      isTls: tls !== undefined,
    });
    const deviceAnswers = new DeviceAnswerCache({
      ...transportHeaders(tls !== undefined),
      ...corsHeaders(corsOrigins),
    });
    const fastPath = deviceFastPath({ exchanges, callers, v3: world.v3, deviceAnswers, corsOrigins });
    const taken = { count: 0 };
    const firstTaken = Promise.withResolvers<void>();
    const counted: typeof fastPath = (request, response) => {
      const isTaken = fastPath(request, response);
      if (isTaken) taken.count += 1;
      // By then an answer from memory was sent.
      if (isTaken) setImmediate(firstTaken.resolve);
      return isTaken;
    };
    const app = appOn({
      exchanges,
      onLimitReached: () => undefined,
      trustedProxies,
      tls,
      fastPath: hasFastPath ? counted : undefined,
      ...defaultHttpLimits,
    });
    const routes = deviceRoutes(world.v3, deviceAnswers);
    allowOrigins(app, routes, corsOrigins);
    addRoutes(app, routes, callers, exchanges);
    await app.listen({ host: "127.0.0.1", port: 0 });
    t.after(async () => {
      app.server.closeAllConnections();
      await app.close();
    });
    const firstClosed = Promise.withResolvers<void>();
    app.server.on("connection", (socket) => socket.once("close", () => setImmediate(firstClosed.resolve)));
    const { port } = app.server.address() as AddressInfo;
    const open = async (): Promise<Socket> => {
      const socket = tls
        ? connectTls({ port, host: "127.0.0.1", ca: tls.ca, checkServerIdentity: () => undefined })
        : connect(port, "127.0.0.1");
      await once(socket, tls ? "secureConnect" : "connect");
      return socket;
    };
    return {
      exchanges,
      reported,
      finished,
      taken,
      open,
      firstTaken: firstTaken.promise,
      firstClosed: firstClosed.promise,
    };
  };
  return { ...world, tokens, fastPath: await startServer(true), fastify: await startServer(false) };
}

/**
 * Sends the request on its own connection, then a last request that ends the connection; returns everything received.
 */
export async function answersTo(server: TestServer, request: string, isPipelined = false): Promise<string> {
  const socket = await server.open();
  const received = receivedBy(socket);
  const isHead = request.startsWith("HEAD ");
  // Node reads nothing after an upgrade request until that is answered.
  if (isPipelined && !request.includes("Upgrade")) socket.write(request + lastRequest, "latin1");
  else {
    socket.write(request, "latin1");
    await new Promise<void>((resolve) => {
      socket.on("data", () => isWhole(received, isHead) && resolve());
      socket.on("close", () => resolve());
    });
    if (socket.writable) socket.write(lastRequest, "latin1");
  }
  await closed(socket);
  return received.text();
}

const lastRequest = "GET /the/last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

export interface Received {
  readonly length: number;
  text(): string;
}

/** Everything received so far. */
export function receivedBy(socket: Socket): Received {
  const pieces: Buffer[] = [];
  let length = 0;
  socket.on("data", (piece: Buffer) => {
    pieces.push(piece);
    length += piece.length;
  });
  socket.on("error", () => undefined);
  return {
    get length() {
      return length;
    },
    text: () => Buffer.concat(pieces).toString("latin1"),
  };
}

function isWhole(received: Received, isHead: boolean): boolean {
  const text = received.text().replace(/^HTTP\/1\.1 100 .*\r\n\r\n/, "");
  const end = text.indexOf("\r\n\r\n");
  if (end < 0 || isHead) return end >= 0;
  const [, length = "0"] = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end)) ?? [];
  return text.length >= end + 4 + Number(length);
}

/** Replaces parts that differ each time by constants. */
export function withoutRandomParts(text: string): string {
  return text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "(an id)")
    .replace(/^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r$/gm, "Date: (now)\r");
}
