import type { Account } from "../model/account.ts";

/**
 * What every home ecosystem owes Breezeway. A connector yields whole account states from whatever its protocol sends,
 * owns its refusals and its pace, and nothing outside its folder knows the protocol.
 */
export interface Connector {
  /** As `anEcosystemName` names it, in lower case. */
  readonly name: string;
  /** The virtual device's name. */
  readonly displayName: string;
  readonly capabilities: Capabilities;
  /**
   * Reads the whole account once: proves a token, or settles what a stream left open. Throws EcosystemRefused when the
   * token isn't good, EcosystemUnreachable when that can't be told.
   */
  read(token: string, signal: AbortSignal): Promise<Account>;
  /** Follows the account on one connection until that ends; it never throws, and never reconnects by itself. */
  follow(token: string, listener: StreamListener, signal: AbortSignal): Promise<StreamEnd>;
  /** Sends one command, once, and never again: whether it was carried out is told by the stream. Never throws. */
  runFan(token: string, command: FanCommand, signal: AbortSignal): Promise<CommandOutcome>;
  /** Ends the token at the ecosystem, where it can; true when it is known to be ended. Never throws. */
  revoke(token: string, signal: AbortSignal): Promise<boolean>;
  /** How long to wait before the next connection, after so many that ended without a whole account. */
  pauseMs(end: StreamEnd, failures: number, random: () => number): number;
}

export interface Capabilities {
  /** A fan starts only while somebody is home. */
  readonly fanNeedsHome: boolean;
}

export interface FanCommand {
  readonly thermostatId: string;
  readonly isOn: boolean;
}

/** `unanswered`: it may have been carried out or not. `unauthorized`: the token is no longer good. */
export type CommandOutcome =
  | { readonly state: "accepted" }
  | { readonly state: "rejected"; readonly message: string; readonly retryAfterMs?: number }
  | { readonly state: "unanswered"; readonly detail: string }
  | { readonly state: "unauthorized" };

export interface StreamListener {
  /** The account as it is now, whole. */
  account(account: Account): void;
  /** The ecosystem sent again what it had sent before. */
  unchanged(): void;
  /** The ecosystem sent a part of the account, which is not applied: the whole has to be read. */
  partial(): void;
}

export interface StreamEnd {
  readonly reason: StreamEndReason;
  readonly detail: string;
  /** For how long nothing had been heard when it was given up. */
  readonly unheardMs?: number;
  /** An exception in the connector itself: a defect of ours, not a word of the ecosystem. */
  readonly error?: unknown;
}

/**
 * `closed`: the other side ended it. `silent`: nothing was heard for too long. `unreachable`: no stream came about.
 * `refused`: the ecosystem said no for now. `unauthorized`: the token is no longer good. `malformed`: what came could
 * not be followed. `stopped`: we ended it.
 */
export type StreamEndReason =
  | "closed"
  | "silent"
  | "unreachable"
  | "refused"
  | "unauthorized"
  | "malformed"
  | "stopped";
