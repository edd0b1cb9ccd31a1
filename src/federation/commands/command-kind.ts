import type { CommitTables, DeviceUpdate } from "../../devices/commit.ts";
import type { CommandOutcome, Connector } from "../../ecosystems/connector.ts";
import type { DeviceId, NodeId, UserId } from "../../model/ids.ts";
import type { BackgroundTaskName } from "../../runtime/background-task-names.ts";
import type { LinkKey } from "../link-key.ts";

/** A stored command, as far as its sending is concerned. */
export interface StoredCommand {
  readonly id: number;
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  readonly requestedMs: number;
  readonly sentMs: number | null;
}

/** One kind of command: where it is stored, how it is sent, and what its outcome changes. */
export interface CommandKind<Command extends StoredCommand> {
  readonly task: BackgroundTaskName;
  /** For the log, such as "a fan request" and "fan requests". */
  readonly words: { readonly one: string; readonly many: string };
  queuedFor(tx: CommitTables, owner: NodeId, limit: number): Promise<readonly Command[]>;
  /**
   * Commands of all nodes that should have been settled by now, by the time of their request or of their sending; and
   * those without an answer that were requested after `requestedAfterMs`: the clock was set back since.
   */
  overdue(
    tx: CommitTables,
    queuedBeforeMs: number,
    sendingBeforeMs: number,
    sentBeforeMs: number,
    limit: number,
    requestedAfterMs: number,
  ): Promise<readonly Command[]>;
  /** Marks the command as sent, under the user's lock. Undefined: it must not be sent, or not yet. */
  mark(tx: CommitTables, command: Command, nowMs: number): Promise<Command | undefined>;
  /** Whether a marked command must be marked and sent again when the ecosystem has accepted it: it has two steps. */
  hasNextStep(command: Command): boolean;
  send(
    connector: Pick<Connector, "act">,
    token: string,
    command: Command,
    signal: AbortSignal,
  ): Promise<CommandOutcome>;
  /**
   * Records the ecosystem's answer. `isAwaited`: no change will confirm the command, so the account is read soon.
   * `isFollowed`, here and below: a node follows the link live. Otherwise the stored state may be old, and shows nothing
   * of the command.
   */
  answered(
    tx: CommitTables,
    command: Command,
    outcome: CommandOutcome,
    nowMs: number,
    isFollowed: boolean,
  ): Promise<{ readonly updates: readonly DeviceUpdate[]; readonly isAwaited: boolean }>;
  /**
   * Records the answer in the receipt alone, when a stopping node can't wait for the alerts on the attributes that the
   * answer changes. The next sweep changes these. Left out where an answer changes no attributes.
   */
  keepAnswer?(tx: CommitTables, command: Command, outcome: CommandOutcome, nowMs: number): Promise<void>;
  /** Called before the command is sent: its echo may come before the answer. `sentMs`: on this node's monotonic clock. */
  expectEcho(command: Command, sentMs: number): void;
  /**
   * Called with the answer, before it is recorded. Returns what a snapshot has confirmed since the sending without a
   * change: the link's owner writes it again.
   */
  restate(
    command: Command,
    outcome: CommandOutcome,
  ): ((tx: CommitTables) => Promise<readonly DeviceUpdate[]>) | undefined;
  /** Called now and then, with this node's monotonic clock. */
  forgetOverdue(nowMs: number): void;
  /** Settles an accepted command by a state that the ecosystem shows as its effect. */
  settleCaused(tx: CommitTables, command: Command, nowMs: number, isFollowed: boolean): Promise<void>;
  /** Settles a command that stayed in one state for too long. */
  settleOverdue(
    tx: CommitTables,
    command: Command,
    nowMs: number,
    isFollowed: boolean,
  ): Promise<readonly DeviceUpdate[]>;
}

export interface CommandConnection {
  readonly link: LinkKey;
  readonly token: string;
  readonly connector: Pick<Connector, "act">;
  /** Runs work on behalf of the link: an error that nothing catches then belongs to the link. */
  readonly run: <Result>(act: () => Result) => Result;
  /** Handles an unexpected error of the sending. */
  readonly failed: (error: unknown) => void;
  /** Reads the account soon. */
  readonly readSoon: () => void;
  /** Resolves when all that the stream has sent is stored; with false when something was dropped or nothing is followed. */
  readonly stored: () => Promise<boolean>;
}
