import type { CommandReceipt } from "../devices/command-receipts.ts";
import type { ThingControl } from "../devices/thing-control.ts";
import type { Command } from "../home/command-plan.ts";
import type { TenantId, UserId } from "../model/ids.ts";
import { pause, type Runtime } from "../runtime/runtime.ts";

/** Who sends commands, as quotas count them. */
export interface CommandCaller {
  readonly tenantId: TenantId;
  readonly clientId: string;
}

export interface CommandingParts {
  readonly control: Pick<ThingControl, "command" | "receipt">;
  readonly admitCommand: (sender: CommandCaller) => void;
  readonly runtime: Runtime;
}

export interface CommandBatch extends CommandCaller {
  readonly userId: UserId;
  readonly thingId: string;
  /** In the order in which they are carried out: assistants chain a mode and a target. */
  readonly commands: readonly Command[];
}

/** Commands of assistants, which want an outcome at once. */
export interface AssistantCommands {
  /**
   * Sends commands to one thing and waits until they have an outcome, at most `waitMs`. After a command that is refused
   * at once, the following ones are not sent. Throws UnknownThing and QuotaExceeded. A receipt without an outcome is `queued`, `sending`
   * or `accepted`.
   */
  run(sent: CommandBatch, waitMs: number, signal?: AbortSignal): Promise<readonly CommandReceipt[]>;
}

/** The pauses between reads of a receipt: short ones first, because most ecosystems answer at once. */
const pauses = { fromMs: 25, toMs: 250 };

export function assistantCommands({ control, runtime, admitCommand }: CommandingParts): AssistantCommands {
  return {
    async run({ userId, tenantId, clientId, thingId, commands }, waitMs, signal = new AbortController().signal) {
      const accessScope = { kind: "user", userId } as const;
      const untilMs = runtime.elapsedMs() + waitMs;
      const receipts: CommandReceipt[] = [];
      for (const command of commands) {
        admitCommand({ tenantId, clientId });
        const receipt = await control.command(accessScope, thingId, { command, clientId });
        receipts.push(receipt);
        if (receipt.state === "rejected") break;
      }
      for (let pauseMs = pauses.fromMs; ; pauseMs = Math.min(pauses.toMs, pauseMs * 2)) {
        const leftMs = untilMs - runtime.elapsedMs();
        if (receipts.every(hasOutcome) || leftMs <= 0 || signal.aborted) return receipts;
        await pause(runtime, Math.min(pauseMs, leftMs), signal);
        for (const [index, receipt] of receipts.entries()) {
          if (!hasOutcome(receipt)) receipts[index] = await control.receipt(accessScope, thingId, receipt.id);
        }
      }
    },
  };
}

export function hasOutcome({ state }: Pick<CommandReceipt, "state">): boolean {
  return state !== "queued" && state !== "sending" && state !== "accepted";
}
