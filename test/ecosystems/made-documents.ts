/** An account document; a test states only what matters to it. */
export function makeDocument(parts: Record<string, unknown> = {}) {
  return {
    metadata: { access_token: "c.secret-of-the-document", client_version: 1 },
    structures: { s1: makeStructure({ thermostats: ["t1"], smoke_co_alarms: ["a1"] }) },
    devices: { thermostats: { t1: makeThermostat() }, smoke_co_alarms: { a1: makeAlarm() } },
    ...parts,
  };
}

export function makeStructure(fields: Record<string, unknown> = {}) {
  return { structure_id: "s1", name: "Home", away: "home", time_zone: "Europe/Berlin", ...fields };
}

export function makeThermostat(fields: Record<string, unknown> = {}) {
  return {
    device_id: "t1",
    structure_id: "s1",
    name: "Hall",
    is_online: true,
    has_fan: true,
    fan_timer_active: false,
    fan_timer_timeout: "1970-01-01T00:00:00.000Z",
    humidity: 40,
    ...fields,
  };
}

export function makeAlarm(fields: Record<string, unknown> = {}) {
  return {
    device_id: "a1",
    structure_id: "s1",
    name: "Attic",
    is_online: true,
    battery_health: "ok",
    co_alarm_state: "ok",
    smoke_alarm_state: "ok",
    ui_color_state: "green",
    ...fields,
  };
}
