/** The refusals of a fan command that the ecosystem has published, by a short name. */
export const publishedRefusals = {
  away: {
    status: 400,
    message: "Cannot change fan_timer_active while structure is away",
    anchor: undefined,
  },
  "safety-shutoff": {
    status: 400,
    message: "Cannot activate fan during smoke/co safety shutoff",
    anchor: "safety-shutoff-on",
  },
  offline: { status: 400, message: "Thermostat is not online", anchor: "not-online" },
  "no-fan": { status: 400, message: "Thermostat does not have a fan", anchor: undefined },
  "no-write-permission": {
    status: 400,
    message: "No write permission(s) for field(s): fan_timer_active",
    anchor: "no-write-permission",
  },
  blocked: { status: 429, message: "blocked", anchor: "blocked" },
} as const;
