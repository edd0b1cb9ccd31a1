import type { CommitTables } from "../devices/commit.ts";
import { changeThingReceipt, errorJson, trimThingReceipts } from "../devices/thing-receipts.ts";
import { judgeEcho } from "../home/command-echo.ts";
import type { CommandState } from "../home/command-states.ts";
import { attributeSource } from "../home/trait-map.ts";
import type { ThingCommandRow } from "../store/tables/thing-commands.ts";
import type { CommandedThing, StoredOwnPlan } from "./commanded-thing.ts";

/** How long a device may go on reporting the state from before a command, such as a report that was under way. */
const graceMs = 2_000;

function ownPlanIn({ plan }: Pick<ThingCommandRow, "plan">): StoredOwnPlan {
  if (plan === null) throw new TypeError("a command that was refused has no plan");
  return JSON.parse(plan);
}

/**
 * Settles the open commands that a write of attributes answers. A command is confirmed when its thing shows everything
 * that it asked for. It is contradicted by other values, unless the write answers another command.
 */
export async function settleByWrite(
  tx: CommitTables,
  thing: CommandedThing,
  open: readonly ThingCommandRow[],
  written: ReadonlySet<unknown>,
  timeMs: number,
): Promise<void> {
  const answered = open.filter((row) => Object.keys(ownPlanIn(row).writes).some((name) => written.has(name)));
  const confirmed = answered.filter((row) => judgeEcho(ownPlanIn(row).expected, thing.traits) === "holds");
  for (const row of confirmed) await settle(tx, row, "confirmed", timeMs);
  if (confirmed.length > 0) return;
  for (const row of answered) {
    if (timeMs - row.sentMs! >= graceMs && isContradicted(thing, row, written)) {
      await settle(tx, row, "contradicted", timeMs);
    }
  }
}

/** Only the written fields count: a company may write the attributes of one command one by one. */
function isContradicted({ map, traits }: CommandedThing, row: ThingCommandRow, written: ReadonlySet<unknown>): boolean {
  const writtenFields = ownPlanIn(row).expected.filter(({ trait, field }) =>
    written.has(attributeSource(map, trait, field)?.attribute),
  );
  return judgeEcho(writtenFields, traits) === "differs";
}

/**
 * Settles a command at its deadline. The state decides if a field that it should change was written after the sending;
 * without an answer it is unknown whether the command was carried out.
 */
export async function settleDue(
  tx: CommitTables,
  thing: CommandedThing | undefined,
  row: ThingCommandRow,
  nowMs: number,
): Promise<void> {
  const { expected } = ownPlanIn(row);
  const isShownSince =
    thing !== undefined &&
    judgeEcho(expected, thing.traits) === "holds" &&
    expected.some(({ trait, field }) => (thing.state[trait]?.[field]?.[1] ?? 0) > row.sentMs!);
  await settle(tx, row, isShownSince ? "confirmed" : "expired", nowMs);
}

async function settle(tx: CommitTables, row: ThingCommandRow, state: CommandState, timeMs: number): Promise<void> {
  const error = state === "expired" ? errorJson({ code: "noAnswer" }) : null;
  await changeThingReceipt(tx, row, ["sending"], { state, error, settledMs: timeMs }, timeMs);
  await trimThingReceipts(tx, row, timeMs);
}
