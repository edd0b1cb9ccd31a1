import { once } from "node:events";
import { connect } from "node:net";
import type { TestContext } from "node:test";
import { inspect } from "node:util";
import type { LinkStatus } from "../../src/federation/link-status.ts";
import type { Callers } from "../../src/http/caller.ts";
import type { AdaptorFederation } from "../../src/http/routes/adaptor.ts";
import { type HttpParts, startHttp } from "../../src/http/server.ts";
import { InvalidClient, InvalidToken } from "../../src/model/errors.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { collecting, madePlatform, type Reported } from "../platform/made-platform.ts";

export type Adaptor = AdaptorFederation;

/** The HTTP server with everything real behind it but the federation, which the test may replace call by call. */
export async function madeServer(
  t: TestContext,
  change: Partial<Pick<HttpParts, "checks" | "limits" | "trustedProxies" | "platform" | "callers">> = {},
) {
  const platform = await madePlatform(t);
  const reported: Reported[] = [];
  const asked: unknown[][] = [];
  const federation: { -readonly [Call in keyof Adaptor]: Adaptor[Call] } = {
    async link(...given) {
      asked.push(["link", ...given]);
      return 41 as DeviceId;
    },
    async relink(...given) {
      asked.push(["relink", ...given]);
      return 42 as DeviceId;
    },
    async unlink(...given) {
      asked.push(["unlink", ...given]);
      const removed = { attributes: 519, history: 3, blindIntervals: 1 };
      return { deviceId: 43 as DeviceId, removed, isTokenRevoked: true };
    },
    async status(...given) {
      asked.push(["status", ...given]);
      return linkStatus;
    },
    async largeStrings(...given) {
      asked.push(["largeStrings", ...given]);
      return { labels: {}, identifiers: {} };
    },
  };
  const callers: Callers = {
    bySecToken: (secToken) => platform.identity.authenticate(secToken),
    byAccessToken: async () => {
      throw new InvalidToken();
    },
    byClientSecret: async () => {
      throw new InvalidClient();
    },
  };
  const server = await startHttp({
    host: "127.0.0.1",
    port: 0,
    report: collecting(reported),
    callers,
    platform: platform.calls,
    federation: {
      link: (...given) => federation.link(...given),
      relink: (...given) => federation.relink(...given),
      unlink: (...given) => federation.unlink(...given),
      status: (...given) => federation.status(...given),
      largeStrings: (...given) => federation.largeStrings(...given),
    },
    checks: {},
    ...change,
  });
  t.after(() => server.stop());
  return {
    ...platform,
    server,
    callers,
    federation,
    asked,
    reported,
    /** All that was reported, as text, with everything that an error carries. */
    log: () => reported.map((line) => inspect(line, { depth: 10, maxStringLength: null })).join("\n"),
    fetch: (path: string, init?: RequestInit) => fetch(`${server.url}${path}`, init),
    /** Sends the text as it is and answers all that came back until the server closed the connection. */
    raw: async (text: string) => {
      const socket = connect(server.port, "127.0.0.1");
      socket.setEncoding("latin1");
      let answer = "";
      socket.on("data", (part) => {
        answer += part;
      });
      socket.write(text, "latin1");
      await once(socket, "close");
      return answer;
    },
  };
}

const linkStatus: LinkStatus = {
  deviceId: 43 as DeviceId,
  ecosystem: "nest",
  state: "waiting",
  reason: "silent: nothing was heard for too long",
  isPresent: false,
  isStale: true,
  confirmedTimeMs: 1_000,
  overLimit: { structures: 1, thermostats: 0, alarms: 2 },
  oddities: { incomplete: 0, unknownAlarmStates: 0, unknownAwayStates: 0 },
  drifts: 0,
  blindIntervals: [
    { fromMs: 1, toMs: 2, cause: "closed" },
    { fromMs: 3, toMs: null, cause: "silent" },
  ],
};
