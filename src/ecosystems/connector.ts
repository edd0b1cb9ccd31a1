import type { PlanningRules, Step } from "../home/command-plan.ts";
import type { Home } from "../home/home.ts";
import type { LeakyBucket } from "../runtime/leaky-bucket.ts";
import type { Consent } from "./consent.ts";
import type { Credential, RenewalOutcome } from "./credential.ts";
import type { Feed, FollowedLink, KnownThing } from "./feed.ts";

/**
 * The interface of every home ecosystem. A connector turns its protocol into whole homes and handles refusals
 * and back-off. Nothing outside its folder knows the protocol.
 */
export interface Connector {
  /** The configured name, in lower case. */
  readonly name: string;
  /** The virtual device's name. */
  readonly displayName: string;
  readonly capabilities: Capabilities;
  /** How an account's owner consents in a browser; undefined when the settings or the ecosystem have no such way. */
  readonly consent?: Consent;
  /** Why a client can't link an account with a token that it brings; the end of a sentence about the token. */
  readonly tokenProblem?: string;
  /** The feed with the events of all accounts, for an ecosystem without a connection for each account. */
  readonly feed?: Feed;
  /**
   * The credential of an account that a client links with a token and an address, or what is wrong with the address.
   * Only for an ecosystem whose accounts have addresses of their own. The sentence follows the name of the parameter.
   */
  credentialFrom?(
    token: string,
    address: string | undefined,
  ): { readonly credential: Credential } | { readonly problem: string };
  /** The text that stands for a credential in the calls below; the access token alone when left out. */
  callTokenOf?(credential: Credential): string;
  /**
   * Reads the whole account once: proves a token, or settles what a stream left open. Throws EcosystemRefused when the
   * token is invalid, EcosystemUnreachable when the ecosystem gives no usable answer.
   */
  read(token: string, signal: AbortSignal): Promise<Home>;
  /**
   * Whether a link and a new credential, with which the account was just read, have the same account. Left out where
   * the ids of structures tell accounts apart.
   */
  isSameAccount?(linked: ComparedAccount, found: ComparedAccount): boolean;
  /** Follows the account on one connection until it ends. Never throws and never reconnects. */
  follow(token: string, listener: StreamListener, signal: AbortSignal): Promise<StreamEnd>;
  /** Sends one step of a command, at most once. The stream shows whether it was carried out. Never throws. */
  act(token: string, action: Action, signal: AbortSignal): Promise<CommandOutcome>;
  /** True when revoking one token also ends the other consents of its account, those of other links included. */
  readonly revokesAllConsents?: boolean;
  /**
   * Revokes the token at the ecosystem, best effort; true when the token is known to be revoked. `credential`: the
   * link's whole credential, for an ecosystem that revokes refresh tokens. Never throws.
   */
  revoke(token: string, signal: AbortSignal, credential?: Credential): Promise<boolean>;
  /**
   * Obtains a new credential in place of this one. Only for an ecosystem whose tokens expire. A refresh token that the
   * answer leaves out stays valid. Never throws.
   */
  renew?(credential: Credential, signal: AbortSignal): Promise<RenewalOutcome>;
  /** The pause before the next connection. `failures`: consecutive connections that ended without a whole account. */
  pauseMs(end: StreamEnd, failures: number, random: () => number): number;
}

export interface Capabilities {
  /** A fan starts only while somebody is home. */
  readonly fanNeedsHome: boolean;
  /** How commands are planned for this ecosystem. */
  readonly planning: PlanningRules;
}

/** By what an account is recognised. */
export interface ComparedAccount {
  /** The access of its credential; undefined when a stored credential can't be opened. */
  readonly callToken: string | undefined;
  /** The ecosystem's id of the account, as the feed knows it for a link. */
  readonly feedAccount?: string | undefined;
  /** The keys of its present things. */
  readonly keys: ReadonlySet<string>;
}

/** One call that changes a thing. */
export interface Action {
  /** The key of the thing, as the things of the account's home have it. */
  readonly key: string;
  readonly step: Step;
}

/**
 * `unanswered`: unknown whether it was carried out. `unauthorized`: the token is no longer valid. `reason`: what the
 * ecosystem's message means, where Breezeway knows it. `caused`: resolves when the stream has reported a state that this
 * call caused, where the ecosystem says what caused a state; never rejects.
 */
export type CommandOutcome =
  | { readonly state: "accepted"; readonly caused?: Promise<void> }
  | {
      readonly state: "rejected";
      readonly message: string;
      readonly retryAfterMs?: number;
      readonly reason?: "offline" | "notHome" | "notSupported";
    }
  | { readonly state: "unanswered"; readonly detail: string }
  | { readonly state: "unauthorized" };

export interface StreamListener {
  /** The whole home as it is now. */
  home(home: Home): void;
  /** The ecosystem sent the same home again. */
  unchanged(): void;
  /** The ecosystem sent a part of the home. It is not applied: the whole home must be read. */
  partial(): void;
  /**
   * Resolves with true when every home that was handed over before is durable: then a connector may acknowledge the
   * messages that led to it. Resolves with false when one was dropped.
   */
  stored(): Promise<boolean>;
  /** What the link has used of its share of CPU, over all its streams. */
  readonly cpuShare?: LeakyBucket | undefined;
  /** The CPU time since the last call that the homes took which were handed over, in part estimated. */
  takeCostMs?(): number;
  /** The account is read more slowly, because it took more than its share of CPU, or no longer so. */
  slowed?(isSlowed: boolean): void;
  /** The account's things as they are stored, by key, with everything that the connector has reported. */
  storedThings?(): Promise<ReadonlyMap<string, KnownThing>>;
  /** The home may have changed since `forMs` although the stream is open. Undefined: the last home is current again. */
  doubtful?(doubt: { readonly reason: string; readonly forMs: number } | undefined): void;
  /** The link that is followed, for a connector with a feed. */
  readonly link?: FollowedLink;
}

export interface StreamEnd {
  readonly reason: StreamEndReason;
  readonly detail: string;
  /** How long nothing had been received before the stream was given up. */
  readonly unheardMs?: number;
  /** An exception in the connector itself: a defect of Breezeway, not of the ecosystem. */
  readonly error?: unknown;
}

/**
 * `closed`: the ecosystem ended it. `silent`: nothing was received for too long. `unreachable`: no connection.
 * `refused`: the ecosystem refused for now. `unauthorized`: the token is no longer valid. `malformed`: the content
 * could not be parsed. `stopped`: this node ended it.
 */
export type StreamEndReason =
  | "closed"
  | "silent"
  | "unreachable"
  | "refused"
  | "unauthorized"
  | "malformed"
  | "stopped";
