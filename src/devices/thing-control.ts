import type { Command } from "../home/command-plan.ts";
import type { AccessScope } from "../model/access-scope.ts";
import type { CommandTarget } from "../model/alert-commands.ts";
import type { TriggerId, UserId } from "../model/ids.ts";
import type { CommandReceipt } from "./command-receipts.ts";
import type { CommitTables } from "./commit.ts";

/** A command and its origin. */
export interface RequestedCommand {
  readonly command: Command;
  /** The client that sends it. */
  readonly clientId: string | null;
  /** The alert that sends it. */
  readonly alertId?: TriggerId;
}

/**
 * Commands to things within the caller's access scope. A thing or receipt outside it looks as if it did not exist.
 */
export interface ThingControl {
  /**
   * Accepts or refuses a command; the receipt is durable when the promise resolves. `keep` stores the answer of a
   * request with an Idempotency-Key in the same transaction.
   */
  command(
    accessScope: AccessScope,
    thingId: string,
    requested: RequestedCommand,
    keep?: (tx: CommitTables, receipt: CommandReceipt) => Promise<void>,
  ): Promise<CommandReceipt>;
  /**
   * The same for several things inside an open transaction that holds the user's lock, for a command that does not
   * depend on the state. Things that the user does not have are left out. `wake` must be called when the transaction is
   * durable.
   */
  admit(
    tx: CommitTables,
    userId: UserId,
    thingIds: readonly string[],
    requested: RequestedCommand,
  ): Promise<readonly CommandReceipt[]>;
  /** The ids of the user's present things that an alert's command reaches, at most `limit`. */
  reached(tx: ReachTables, userId: UserId, target: CommandTarget, limit: number): Promise<readonly string[]>;
  /** Commands were stored on this node. */
  wake(): void;
  /** The newest receipts of a thing, newest first; fan requests of a thermostat are among them. */
  receipts(accessScope: AccessScope, thingId: string): Promise<readonly CommandReceipt[]>;
  receipt(accessScope: AccessScope, thingId: string, commandId: string): Promise<CommandReceipt>;
}

/** The tables in which the things of a user are found. */
export type ReachTables = Pick<CommitTables, "users" | "things" | "deviceTypeMaps" | "mappedDevices">;

/** The newest receipts that a list of a thing shows. */
export const receiptsShown = 100;
