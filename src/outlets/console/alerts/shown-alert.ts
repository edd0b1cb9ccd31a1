import { type Html, html } from "../../../web/html.ts";
import { type StatusLevel, state } from "../kit/state.ts";
import { ago } from "../times.ts";

/** An alert as the calls of /admin/v1 show it. */
export interface ShownAlert {
  readonly alertId: number;
  readonly userId: number;
  readonly deviceId: number;
  readonly attrName?: string;
  readonly thingId?: string;
  readonly field?: string;
  readonly sentence: string;
  readonly state: string;
  readonly operation: string;
  readonly value: string;
  readonly action: string;
  readonly targets: readonly { readonly deviceId: number; readonly attrName: string; readonly value: string }[];
  readonly commandOptions: readonly string[];
  readonly msg: string;
  readonly autoDisarm: boolean;
  readonly autoDelete: boolean;
  readonly autoDisable: boolean;
  readonly disabledReason: string | null;
  readonly createdTime: number;
  readonly firedTime: number | null;
  readonly firings: number;
}

const moods: Readonly<Record<string, StatusLevel>> = {
  armed: "good",
  waiting: "warn",
  disabled: "off",
  stopped: "bad",
};

export const alertStates = [
  ["armed", "armed"],
  ["waiting", "waiting"],
  ["disabled", "disabled"],
  ["stopped", "stopped by a limit"],
] as const;

export function alertState({ state: known }: ShownAlert): Html {
  return state(moods[known] ?? "bad", known);
}

/** Why an alert is in its state. */
export function alertReason({ state: known, disabledReason }: ShownAlert): string {
  if (known === "armed") return "It fires when its condition becomes true.";
  if (known === "waiting") return "It has fired, and waits until its condition has been false.";
  return disabledReason ?? "An operator or a client disabled it.";
}

export function lastFiring({ firedTime, firings }: ShownAlert, nowMs: number): Html {
  if (firedTime === null) return html`<span class="soft">never</span>`;
  return html`${ago(firedTime, nowMs)}${firings > 1 ? html` <span class="small">${firings} times in all</span>` : undefined}`;
}
