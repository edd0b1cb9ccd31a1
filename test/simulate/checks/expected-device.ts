import type { HomeTruth } from "./history.ts";

/** The assignment of indexes, parsed from the stored text by the checker itself. */
export interface StoredMap {
  readonly step: number;
  readonly structures: readonly (StoredStructure | null)[];
}

export interface StoredSlot {
  readonly id: string;
  readonly isPresent: boolean;
}

export interface StoredStructure extends StoredSlot {
  readonly thermostats: readonly (StoredSlot | null)[];
  readonly alarms: readonly (StoredSlot | null)[];
}

// The numbers of the 519 attributes, computed independently from the tables of the interface (2.7): 1 of the account,
// then for each structure 8 of its overview, 3 of itself, 20 thermostats with 7 each, 18 alarms with 6 each.
export const attributeTotal = 519;
const ofStructure = 8 + 3 + 20 * 7 + 18 * 6;
const overview = (x: number) => 1 + (x - 1) * ofStructure;
const itself = (x: number) => overview(x) + 8;
const thermostatAt = (x: number, y: number) => itself(x) + 3 + (y - 1) * 7;
const alarmAt = (x: number, y: number) => itself(x) + 3 + 20 * 7 + (y - 1) * 6;

export const fanRequests: readonly {
  readonly deviceId: number;
  readonly active: number;
  readonly request: number;
}[] = [1, 2].flatMap((x) =>
  Array.from({ length: 20 }, (_, index) => {
    const first = thermostatAt(x, index + 1);
    return { deviceId: first + 1, active: first + 4, request: first + 5 };
  }),
);

const requests = new Set<string | number>(fanRequests.map(({ request }) => request));

export function isFanRequest(key: string | number): boolean {
  return requests.has(key);
}

/** The attributes of each alarm slot: its id and the states of its two sensors. */
export const alarmSlots: readonly { readonly deviceId: number; readonly co: number; readonly smoke: number }[] = [
  1, 2,
].flatMap((x) =>
  Array.from({ length: 18 }, (_, index) => {
    const first = alarmAt(x, index + 1);
    return { deviceId: first + 1, co: first + 3, smoke: first + 4 };
  }),
);

/** The alarm and structure that occupy a slot. */
export function alarmInSlot(
  map: StoredMap,
  x: number,
  y: number,
): { readonly structure: string; readonly alarm: string } | undefined {
  const structure = map.structures[x - 1];
  const alarm = structure?.alarms[y - 1];
  return structure && alarm ? { structure: structure.id, alarm: alarm.id } : undefined;
}

/** `[step, [[id, absent since, [[id, absent since] …], […]] …]]` */
export function parseStoredMap(text: string): StoredMap {
  const [step, structures] = JSON.parse(text) as [number, unknown[]];
  const slot = (value: unknown): StoredSlot | null => {
    if (value === null) return null;
    const [id, absentSince] = value as [string, number | null];
    return { id, isPresent: absentSince === null };
  };
  return {
    step,
    structures: structures.map((value) => {
      if (value === null) return null;
      const [, , thermostats, alarms] = value as [string, number | null, unknown[], unknown[]];
      return { ...slot(value)!, thermostats: thermostats.map(slot), alarms: alarms.map(slot) };
    }),
  };
}

/** The expected values of a home's virtual device, by attribute number; fan requests are not checked. */
export function expectedValues(home: HomeTruth, map: StoredMap): Map<number, string | null> {
  const values = new Map<number, string | null>();
  for (let number = 0; number < attributeTotal; number++) values.set(number, null);
  const present = map.structures.filter((structure) => structure?.isPresent).length;
  values.set(0, present === 0 ? null : String(present));
  map.structures.forEach((structure, index) => {
    if (!structure?.isPresent) return;
    const x = index + 1;
    put(values, overview(x), overviewOf(home, structure));
    const { name, away } = home.structures.get(structure.id) ?? { name: null, away: null };
    put(values, itself(x), [away, name, structure.id]);
    structure.thermostats.forEach((slot, place) => {
      const thermostat = slot?.isPresent ? home.thermostats.get(slot.id) : undefined;
      if (!slot || !thermostat) return;
      const { name: label, isOnline, hasFan, fanTimerActive, fanTimerTimeout } = thermostat;
      const shown = [
        label,
        slot.id,
        booleanText(isOnline),
        booleanText(hasFan),
        booleanText(fanTimerActive),
        null,
        fanTimerTimeout,
      ];
      put(values, thermostatAt(x, place + 1), shown);
    });
    structure.alarms.forEach((slot, place) => {
      const alarm = slot?.isPresent ? home.alarms.get(slot.id) : undefined;
      if (!slot || !alarm) return;
      const { name: label, isOnline, coAlarmState, smokeAlarmState, uiColorState } = alarm;
      put(values, alarmAt(x, place + 1), [
        label,
        slot.id,
        booleanText(isOnline),
        coAlarmState,
        smokeAlarmState,
        uiColorState,
      ]);
    });
  });
  for (const { request } of fanRequests) values.delete(request);
  return values;
}

/**
 * The alarms with an index in a structure, and those whose states count there. An alarm that names no structure of the
 * home gets an index in the only structure; with several structures it may keep its last index, and counts in all.
 */
export function alarmsIn(
  { alarms, structures }: HomeTruth,
  { id, alarms: slots }: StoredStructure,
): { readonly placed: readonly string[]; readonly counted: readonly string[] } {
  const own = [...alarms].filter(([, { structureId }]) => structureId === id).map(([alarm]) => alarm);
  const strays = [...alarms].filter(([, { structureId }]) => structureId === null || !structures.has(structureId));
  const seatedIn = (range: readonly (StoredSlot | null)[], alarm: string) =>
    range.some((slot) => slot?.isPresent && slot.id === alarm);
  const here = strays
    .filter(([alarm, { structureId }]) => structures.size === 1 || (structureId === null && seatedIn(slots, alarm)))
    .map(([alarm]) => alarm);
  const everywhere = strays.map(([alarm]) => alarm).filter((alarm) => !here.includes(alarm));
  return { placed: [...own, ...here], counted: [...own, ...here, ...everywhere] };
}

/** Totals up to the limit; warnings and emergencies over all alarms of the structure, blank without the permission. */
function overviewOf(home: HomeTruth, structure: StoredStructure): (string | null)[] {
  const thermostats = [...home.thermostats.values()].filter(({ structureId }) => structureId === structure.id);
  const { placed, counted } = alarmsIn(home, structure);
  const alarms = counted.map((id) => home.alarms.get(id)!);
  const totals = [String(Math.min(20, thermostats.length)), String(Math.min(18, placed.length))];
  if (!home.speaksOfAlarms) return [...totals, null, null, null, null, null, null];
  const both = (state: string) => {
    const smoke = alarms.some(({ smokeAlarmState }) => smokeAlarmState === state);
    const co = alarms.some(({ coAlarmState }) => coAlarmState === state);
    return [String(smoke || co), String(smoke), String(co)];
  };
  return [...totals, ...both("warning"), ...both("emergency")];
}

function put(values: Map<number, string | null>, first: number, shown: readonly (string | null)[]): void {
  shown.forEach((value, index) => {
    values.set(first + index, value);
  });
}

function booleanText(claim: boolean | null): string | null {
  return claim === null ? null : String(claim);
}
