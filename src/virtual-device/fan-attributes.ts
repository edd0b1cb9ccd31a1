import type { Traits } from "../home/catalogue.ts";
import { cleanText } from "../model/clean-text.ts";

/** The attributes of a thermostat that its fan fills. */
export const fanFields = ["hasFan", "fanTimerActive", "fanTimerTimeout"] as const;

type FanAttributes = Readonly<Record<(typeof fanFields)[number], string | null>>;

/**
 * The fan of a thermostat: its timer, or a fan with modes, which runs in the mode `on`. Undefined: the ecosystem can't
 * tell anything of the thermostat now.
 */
export function fanAttributes({ fanTimer, fan, thermostat }: Traits): FanAttributes | undefined {
  if (fanTimer) {
    const { active, untilText } = fanTimer.state;
    return {
      hasFan: claimOf(fanTimer.capabilities.supported),
      fanTimerActive: claimOf(active),
      fanTimerTimeout: untilText === null ? null : cleanText(untilText),
    };
  }
  if (fan) {
    const isOn = fan.state.mode === null ? null : fan.state.mode === "on";
    return { hasFan: "true", fanTimerActive: claimOf(isOn), fanTimerTimeout: null };
  }
  return thermostat && { hasFan: "false", fanTimerActive: null, fanTimerTimeout: null };
}

function claimOf(value: boolean | null): string | null {
  return value === null ? null : String(value);
}
