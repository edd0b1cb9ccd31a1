import type { Commanding } from "../alerts/alerts.ts";
import type { ThingControl } from "../devices/thing-control.ts";
import { readCommand } from "../home/command.ts";
import { isCommandError } from "../home/command-errors.ts";

/** Alerts command things through the same gate as clients. The control is built after the alerts. */
export function alertCommanding(control: () => Pick<ThingControl, "admit" | "reached" | "wake">): Commanding {
  return {
    reached: (tx, userId, target, limit) => control().reached(tx, userId, target, limit),
    async admit(tx, { userId, alertId, thingIds, command: { trait, command, params } }) {
      const read = readCommand(trait, command, params);
      // It was checked when the alert was defined. A later version may have changed the catalogue.
      if (isCommandError(read)) return [];
      const receipts = await control().admit(tx, userId, thingIds, { command: read, clientId: null, alertId });
      return receipts.map(({ thingId, id, state }) => ({ thingId, commandId: id, state }));
    },
    admitted: () => control().wake(),
  };
}
