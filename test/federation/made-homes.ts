import type { Home } from "../../src/home/home.ts";
import {
  type AlarmFields,
  type AwayWord,
  alarm,
  homeWith,
  structure,
  type ThermostatFields,
  thermostat,
} from "../home/home-parts.ts";

interface HouseFields {
  readonly name?: string;
  readonly away?: AwayWord;
  readonly fan?: ThermostatFields["fanTimerActive"];
  readonly smoke?: AlarmFields["smokeAlarmState"];
  readonly co?: AlarmFields["coAlarmState"];
  /** Number of unreadable objects. */
  readonly incomplete?: number;
}

/** A house with one thermostat and one alarm, without problems except those that the test states. */
export function home({
  name = "Home",
  away = "home",
  fan = false,
  smoke = "ok",
  co = "ok",
  incomplete = 0,
}: HouseFields = {}): Home {
  const account = homeWith({
    structures: { s1: structure({ name, away }) },
    thermostats: { t1: thermostat("s1", { fanTimerActive: fan }) },
    alarms: { a1: alarm("s1", { smokeAlarmState: smoke, coAlarmState: co }) },
  });
  return { ...account, oddities: { ...account.oddities, incomplete } };
}
