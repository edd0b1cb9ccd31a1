import type { Structure } from "./account-document.ts";
import { type Place, wheresOf } from "./places.ts";
import { opaqueId } from "./random.ts";

/** The value that means "never" in a document. */
export const never = "1970-01-01T00:00:00.000Z";

/** A structure without devices: somebody is home, and there is no alarm. */
export function newStructure(structureId: string, name: string, place: Place): Structure {
  return {
    structure_id: structureId,
    name,
    away: "home",
    country_code: place.countryCode,
    postal_code: place.postalCode,
    time_zone: place.timeZone,
    peak_period_start_time: never,
    peak_period_end_time: never,
    eta: {
      trip_id: opaqueId(`${structureId}/trip`, 22),
      estimated_arrival_window_begin: never,
      estimated_arrival_window_end: never,
    },
    eta_begin: never,
    co_alarm_state: "ok",
    smoke_alarm_state: "ok",
    rhr_enrollment: false,
    wheres: wheresOf(structureId),
    wwn_security_state: "ok",
  };
}
