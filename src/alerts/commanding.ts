import type { CommitTables } from "../devices/commit.ts";
import type { CommandState } from "../home/command-states.ts";
import type { AlertCommand } from "../model/alert-commands.ts";
import type { TriggerId, UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { AlertTables } from "./alert-tables.ts";

/** How alerts command things. It is handed in: alerts do not know where things are kept and how commands reach them. */
export interface Commanding {
  /** The ids of the user's present things that a command reaches, at most `limit`, in a fixed order. */
  reached(tx: AlertTables, userId: UserId, command: AlertCommand, limit: number): Promise<readonly string[]>;
  /**
   * Accepts or refuses a command to each of the things, inside the transaction of the firing, which holds the user's
   * lock. A thing that was removed can't have a receipt and is left out.
   */
  admit(tx: CommitTables, order: Order): Promise<readonly AdmittedCommand[]>;
  /** Commands that were admitted here are durable now. */
  admitted(): void;
}

/** A command of a firing alert to some things. */
export interface Order {
  readonly userId: UserId;
  readonly alertId: TriggerId;
  readonly thingIds: readonly string[];
  readonly command: AlertCommand;
}

/** A command of a firing with its receipt. */
export interface AdmittedCommand {
  readonly thingId: string;
  readonly commandId: string;
  /** The state of the receipt when the alert fired. */
  readonly state: CommandState;
}

/** A command of an alert and one thing that it reaches. */
export interface ThingOrder {
  readonly thingId: string;
  readonly command: AlertCommand;
}

/** For a service without things. */
export const commandsNothing: Commanding = {
  reached: async () => [],
  admit: async () => [],
  admitted: () => undefined,
};

/** What became of the commands of one firing. */
export interface CommandedThings {
  readonly commands: readonly AdmittedCommand[];
  /** What did not happen, for the record of the alert. */
  readonly notes: readonly string[];
  readonly isLimitReached: boolean;
}

/**
 * Sends the commands of a firing to at most `left` things. Beyond that nothing is sent: the first lamps of a house are
 * better than none. A refused command has a receipt and changes nothing else.
 */
export async function commandThings(
  commanding: Commanding,
  tx: CommitTables & AlertTables,
  {
    id,
    userId,
    commands,
  }: { readonly id: TriggerId; readonly userId: UserId; readonly commands: readonly AlertCommand[] },
  left: number,
): Promise<CommandedThings> {
  const admitted: AdmittedCommand[] = [];
  const notes: string[] = [];
  const room = roomOf(left);
  let isLimitReached = false;
  for (const command of commands) {
    const { reached, thingIds } = await take(commanding, tx, userId, command, room);
    if (reached.length > thingIds.length) isLimitReached = true;
    const receipts = thingIds.length > 0 ? await commanding.admit(tx, { userId, alertId: id, thingIds, command }) : [];
    admitted.push(...receipts);
    const present = new Set(receipts.map(({ thingId }) => thingId));
    const missing = reached.length === 0 && "thingId" in command ? [command.thingId] : [];
    missing.push(...thingIds.filter((thingId) => !present.has(thingId)));
    notes.push(...missing.map((thingId) => `thing ${thingId} is not there any more`));
  }
  const refused = admitted.filter(({ state }) => state === "rejected").length;
  if (refused > 0) notes.push(`${refused} of ${admitted.length} commands were refused`);
  return { commands: admitted, notes, isLimitReached };
}

/** What a firing would send now. */
export async function reachedNow(
  commanding: Commanding,
  tx: AlertTables,
  { userId, commands }: { readonly userId: UserId; readonly commands: readonly AlertCommand[] },
): Promise<readonly ThingOrder[]> {
  const orders: ThingOrder[] = [];
  const room = roomOf(limits.alertCommandsPerCause);
  for (const command of commands) {
    const { thingIds } = await take(commanding, tx, userId, command, room);
    orders.push(...thingIds.map((thingId) => ({ thingId, command })));
  }
  return orders;
}

/** How many things a change may still command: of all kinds, and of linked accounts. */
interface Room {
  all: number;
  linked: number;
}

/** Commands of earlier firings count as commands to linked things: the chain does not say where they went. */
function roomOf(left: number): Room {
  const sent = limits.alertCommandsPerCause - left;
  return { all: left, linked: Math.max(0, limits.linkedCommandsPerCause - sent) };
}

/** The things that a command reaches, and those of them for which there is room. These take it. */
async function take(
  commanding: Commanding,
  tx: AlertTables,
  userId: UserId,
  command: AlertCommand,
  room: Room,
): Promise<{ readonly reached: readonly string[]; readonly thingIds: readonly string[] }> {
  // One extra thing shows whether more follow.
  const reached = await commanding.reached(tx, userId, command, room.all + 1);
  // Only things of linked accounts have rows.
  const rows = reached.length > 0 ? await tx.things.some(userId, reached) : [];
  const linked = new Set(rows.map(({ thingId }) => thingId));
  const thingIds = reached.filter((thingId) => {
    const isLinked = linked.has(thingId);
    if (room.all === 0 || (isLinked && room.linked === 0)) return false;
    room.all -= 1;
    if (isLinked) room.linked -= 1;
    return true;
  });
  return { reached, thingIds };
}
