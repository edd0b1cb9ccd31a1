import type { Account, Alarm, Structure, Thermostat } from "../../src/home/account.ts";
import { alarm, makeAccount, structure, thermostat } from "../home/made-accounts.ts";

interface Home {
  readonly name?: string;
  readonly away?: Structure["away"];
  readonly fan?: Thermostat["fanTimerActive"];
  readonly smoke?: Alarm["smokeAlarmState"];
  readonly co?: Alarm["coAlarmState"];
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
}: Home = {}): Account {
  const account = makeAccount({
    structures: { s1: structure({ name, away }) },
    thermostats: { t1: thermostat("s1", { fanTimerActive: fan }) },
    alarms: { a1: alarm("s1", { smokeAlarmState: smoke, coAlarmState: co }) },
  });
  return { ...account, oddities: { ...account.oddities, incomplete } };
}
