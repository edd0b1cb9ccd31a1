import type { Home } from "../../home/home.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../../model/errors.ts";
import { readJsonHere } from "../../runtime/json/json-thread.ts";
import { type Runtime, within } from "../../runtime/runtime.ts";
import type { ComparedAccount, Connector, StreamEnd, StreamListener } from "../connector.ts";
import { pauseMs } from "../kit/back-off.ts";
import { type CallJson, jsonCaller } from "../kit/json-call.ts";
import { AccountState } from "./account-state.ts";
import { sendAction } from "./action.ts";
import { CallBudget } from "./call-budget.ts";
import type { GoogleConfiguration } from "./configuration.ts";
import { FollowedAccount, type KnownAccount } from "./followed-account.ts";
import { type GoogleLimits, googleLimits, withMargin } from "./limits.ts";
import { listAccount } from "./lists.ts";
import { ServiceAccountTokens } from "./service-account.ts";
import { Subscription } from "./subscription.ts";
import { googleConsent, renewCredential, revokeToken } from "./tokens.ts";

export interface GoogleOptions {
  readonly configuration: GoogleConfiguration;
  readonly runtime: Runtime;
  readonly limits?: GoogleLimits;
  /** How calls are made; over HTTP, without a thread for large answers. */
  readonly call?: CallJson;
  /** How the feed gets its token; with the key file of the settings. */
  readonly feedTokens?: Pick<ServiceAccountTokens, "token" | "forget">;
  /** Time limit of one call; 30 s. */
  readonly answerLimitMs?: number;
  /** Time limit of a pull; 2 minutes. */
  readonly pullLimitMs?: number;
  /** How often an account is listed although no event calls for it; an hour. */
  readonly relistMs?: number;
  /** How far the clocks of Google's servers may be apart; a second. */
  readonly clockSkewMs?: number;
}

/** A new link uses the structures of a list that is younger than this, which saves one call. */
const recentMs = 30_000;
const maximalRecent = 1_000;
/** How long a read, and how long a stream, waits for its turn within the rate limit. */
const readPatienceMs = 10_000;
const followPatienceMs = 90_000;

const stopped: StreamEnd = { reason: "stopped", detail: "stopped by us" };

/** Google Device Access: REST for lists and commands, and one Pub/Sub subscription with the events of all accounts. */
export function googleConnector(options: GoogleOptions): Connector {
  const { configuration, runtime, limits = googleLimits, relistMs = 3_600_000, clockSkewMs = 1_000 } = options;
  const { answerLimitMs = 30_000, pullLimitMs = 120_000, call = jsonCaller(readJsonHere) } = options;
  const { name, apiUrl, projectId, tokenUrl } = configuration;
  const serviceAccount = { file: configuration.serviceAccountFile, tokenUrl };
  const { feedTokens = new ServiceAccountTokens(serviceAccount, call, runtime) } = options;
  const tokens = { configuration, runtime, call, answerLimitMs };
  const lists = {
    projectUrl: `${apiUrl}/enterprises/${projectId}`,
    call,
    limits: withMargin(limits.lists),
    budget: new CallBudget(withMargin(limits.lists), runtime),
    runtime,
    answerLimitMs,
    clockSkewMs,
  };
  const followed = new Set<FollowedAccount>();
  const followedWith = (token: string) => [...followed].find((one) => one.isFollowedWith(token));
  const actions = {
    apiUrl,
    call,
    accountOf: (token: string) => followedWith(token)?.account,
    commands: new CallBudget(withMargin(limits.commands), runtime),
    thermostat: new CallBudget(withMargin(limits.thermostat), runtime),
  };
  const recent = new Map<string, KnownAccount & { readonly elapsedMs: number }>();

  function remember(token: string, known: KnownAccount): void {
    recent.delete(token);
    recent.set(token, { account: known.account, structures: known.structures, elapsedMs: runtime.elapsedMs() });
    const [oldest] = recent.keys();
    if (oldest !== undefined && recent.size > maximalRecent) recent.delete(oldest);
  }

  async function read(token: string, signal: AbortSignal): Promise<Home> {
    const stream = followedWith(token);
    const mark = stream?.mark;
    const options = { patienceMs: readPatienceMs, ...(stream && { calls: stream.calls }) };
    const list = await listAccount(lists, token, options, signal);
    if ("end" in list) {
      const { reason, detail } = list.end;
      if (reason === "unauthorized") throw new EcosystemRefused(`${name} refused the token: ${detail}.`);
      throw new EcosystemUnreachable(`${name} could not be read: ${detail}.`);
    }
    if (!stream) remember(token, list);
    // The stream goes on from this list: otherwise its next event would show older values again.
    if (stream?.isFollowedWith(token) && mark) return stream.take(list, mark);
    const state = new AccountState(configuration);
    state.list(list);
    return state.home();
  }

  async function follow(token: string, listener: StreamListener, signal: AbortSignal): Promise<StreamEnd> {
    if (signal.aborted) return stopped;
    if (!listener.link) return { reason: "refused", detail: "the events of this ecosystem need a feed" };
    const known = recent.get(token);
    recent.delete(token);
    const parts = { lists, range: configuration, runtime, relistMs, patienceMs: followPatienceMs };
    const stream = new FollowedAccount(parts, listener.link, listener);
    followed.add(stream);
    const isRecent = known !== undefined && runtime.elapsedMs() - known.elapsedMs < recentMs;
    const end = await stream.run(signal, isRecent ? known : undefined);
    followed.delete(stream);
    return end;
  }

  /** By Google's id of the account, or by a shared structure or device: another member of the household may renew. */
  function isSameAccount(linked: ComparedAccount, { callToken = "", keys }: ComparedAccount): boolean {
    const account = recent.get(callToken)?.account ?? followedWith(callToken)?.account;
    if (account !== undefined && account === linked.feedAccount) return true;
    return [...keys].some((key) => linked.keys.has(key));
  }

  return {
    name,
    displayName: "Google account",
    // In eco a thermostat accepts neither modes nor targets.
    capabilities: { fanNeedsHome: false, planning: { endsEcoFirst: true } },
    consent: googleConsent(tokens),
    tokenProblem:
      "can't be used for this ecosystem, because its tokens expire within the hour. Its accounts are linked on the " +
      "link page: POST /v3/link-sessions answers with its address.",
    feed: new Subscription({
      url: `${configuration.pubsubUrl}/${configuration.subscription}`,
      tokens: feedTokens,
      call,
      runtime,
      pullLimitMs,
      answerLimitMs,
    }),
    read,
    isSameAccount,
    follow,
    act: (token, action, signal) =>
      within(runtime, answerLimitMs, signal, (inTime) => sendAction(actions, token, action, inTime)),
    revokesAllConsents: true,
    renew: (credential, signal) => renewCredential(tokens, credential, signal),
    async revoke(token, signal) {
      const isRevoked = await within(runtime, answerLimitMs, signal, (inTime) => revokeToken(tokens, token, inTime));
      // Google does not announce it.
      if (isRevoked) for (const stream of followed) if (stream.isFollowedWith(token)) stream.revoked();
      return isRevoked;
    },
    pauseMs,
  };
}
