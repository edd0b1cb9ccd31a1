import type { CommandReceipt } from "../devices/command-receipts.ts";
import type { ThingControl } from "../devices/thing-control.ts";
import type { Command } from "../home/command-plan.ts";
import type { UserId } from "../model/ids.ts";
import { pause, type Runtime } from "../runtime/runtime.ts";

export interface CommandingParts {
  readonly control: Pick<ThingControl, "command" | "receipt">;
  readonly runtime: Runtime;
}

export interface SentCommand {
  readonly userId: UserId;
  readonly clientId: string;
  readonly thingId: string;
  readonly command: Command;
}

/** Commands of assistants, which want an outcome at once. */
export interface AssistantCommands {
  /**
   * Sends a command and waits until it has an outcome, at most `waitMs`. Throws UnknownThing. A receipt without an outcome
   * is `queued`, `sending` or `accepted`.
   */
  run(sent: SentCommand, waitMs: number, signal?: AbortSignal): Promise<CommandReceipt>;
}

/** The pauses between reads of a receipt: short ones first, because most ecosystems answer at once. */
const pauses = { fromMs: 25, toMs: 250 };

export function assistantCommands({ control, runtime }: CommandingParts): AssistantCommands {
  return {
    async run({ userId, clientId, thingId, command }, waitMs, signal = new AbortController().signal) {
      const accessScope = { kind: "user", userId } as const;
      const untilMs = runtime.elapsedMs() + waitMs;
      let receipt = await control.command(accessScope, thingId, { command, clientId });
      for (let pauseMs = pauses.fromMs; !hasOutcome(receipt); pauseMs = Math.min(pauses.toMs, pauseMs * 2)) {
        const leftMs = untilMs - runtime.elapsedMs();
        if (leftMs <= 0 || signal.aborted) break;
        await pause(runtime, Math.min(pauseMs, leftMs), signal);
        receipt = await control.receipt(accessScope, thingId, receipt.id);
      }
      return receipt;
    },
  };
}

export function hasOutcome({ state }: Pick<CommandReceipt, "state">): boolean {
  return state !== "queued" && state !== "sending" && state !== "accepted";
}
