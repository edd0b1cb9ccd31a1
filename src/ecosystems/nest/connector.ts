import type { Home } from "../../home/home.ts";
import type { OnLimitReached } from "../../model/limits.ts";
import { type ReadLargeJson, readJsonHere } from "../../runtime/json/json-thread.ts";
import type { CodeFlow } from "../code-flow.ts";
import type { Connector, StreamEnd, StreamListener } from "../connector.ts";
import { pauseMs } from "../kit/back-off.ts";
import { codeFlowConsent } from "../kit/code-flow-consent.ts";
import { withDeadline } from "../kit/deadline.ts";
import { IngestTurns } from "../kit/ingest-turns.ts";
import { UnfinishedMessages } from "../kit/unfinished-messages.ts";
import { sendAction } from "./action.ts";
import { eventStream, NestApi } from "./api.ts";
import { readHome } from "./read-home.ts";
import { revokeToken } from "./revocation.ts";
import { NestStream } from "./stream.ts";

export interface NestOptions {
  /** The configured name. */
  readonly name: string;
  readonly apiUrl: string;
  /** Hosts to which a redirect may take the token: `host:port`, or `host` for the scheme's default port. */
  readonly allowedHosts: readonly string[];
  /** Where tokens are revoked; below `apiUrl` when left out. */
  readonly tokensUrl?: string;
  /** How an account's owner consents in a browser; undefined when the settings name no client of the ecosystem. */
  readonly codeFlow?: CodeFlow | undefined;
  /** A stream that is silent for this time is dead; 70 s, more than two of the ecosystem's keep-alives. */
  readonly watchdogMs?: number;
  /** A stream that has not sent the account after this time ends, though it is kept alive; 2 minutes. */
  readonly firstAccountMs?: number;
  /** Time limit for a read, and for opening a stream; 30 s. */
  readonly answerLimitMs?: number;
  /** Reads large texts; without a thread when left out. */
  readonly readJson?: ReadLargeJson;
  /** Bounds unfinished answers; those of this connector when left out. */
  readonly unfinished?: UnfinishedMessages;
  /** Counts streams that were throttled. */
  readonly onLimitReached?: OnLimitReached;
}

/** The Works-with-Nest ecosystem: REST and Server-Sent Events, a whole account in every message. */
export function nestConnector(options: NestOptions): Connector {
  const { allowedHosts, watchdogMs = 70_000, firstAccountMs = 120_000, answerLimitMs = 30_000 } = options;
  const { onLimitReached = () => undefined, readJson = readJsonHere } = options;
  const { unfinished = new UnfinishedMessages(onLimitReached) } = options;
  const name = options.name.toLowerCase();
  const turns = new IngestTurns();
  const api = new NestApi({ apiUrl: new URL(options.apiUrl), allowedHosts });

  async function read(token: string, signal: AbortSignal): Promise<Home> {
    return withDeadline(signal, answerLimitMs, (inTime) =>
      readHome({ api, name, readJson, unfinished }, token, inTime),
    );
  }

  async function follow(token: string, listener: StreamListener, signal: AbortSignal): Promise<StreamEnd> {
    const open = (inTime: AbortSignal) => api.open(token, eventStream, inTime);
    const opening = await withDeadline(signal, answerLimitMs, open);
    if (!opening.isOpen) return signal.aborted ? { reason: "stopped", detail: "stopped by us" } : opening.end;
    const end = await new NestStream(opening.response, listener, {
      watchdogMs,
      firstAccountMs,
      turns,
      readLarge: (text, projection, inTime) => readJson(token, text, projection, inTime),
      onLimitReached,
    }).run(signal);
    api.forgetHost(token);
    return end;
  }

  const tokensUrl = new URL(options.tokensUrl ?? `${options.apiUrl.replace(/\/$/, "")}/oauth2/access_tokens`);

  return {
    name,
    displayName: "Nest account",
    capabilities: { fanNeedsHome: true, planning: { endsEcoFirst: false } },
    ...(options.codeFlow && { consent: codeFlowConsent(options.codeFlow) }),
    read,
    follow,
    act: (token, action, signal) =>
      withDeadline(signal, answerLimitMs, (inTime) => sendAction(api, token, action, inTime)),
    revoke: (token, signal) => withDeadline(signal, answerLimitMs, (inTime) => revokeToken(tokensUrl, token, inTime)),
    pauseMs,
  };
}
