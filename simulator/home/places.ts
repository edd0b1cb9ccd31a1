import type { DeviceKind, Listing, Where } from "./account-document.ts";
import { opaqueId } from "./random.ts";

/** The location of a structure, with its time zone, postal code, locale and temperature scale. */
export interface Place {
  readonly countryCode: string;
  readonly postalCode: string;
  readonly timeZone: string;
  readonly locale: string;
  readonly temperatureScale: "C" | "F";
}

export const places: readonly Place[] = [
  place("US", "94304", "America/Los_Angeles", "en-US", "F"),
  place("US", "60614", "America/Chicago", "en-US", "F"),
  place("US", "02139", "America/New_York", "en-US", "F"),
  place("CA", "M5V 2T6", "America/Toronto", "en-CA", "C"),
  place("GB", "SW1A 1AA", "Europe/London", "en-GB", "C"),
  place("NL", "1012 JS", "Europe/Amsterdam", "nl-NL", "C"),
];

/** The place of an existing structure; the first place for an unknown country. */
export function placeIn(countryCode: string): Place {
  return places.find((place) => place.countryCode === countryCode) ?? places[0]!;
}

export const structureNames = [
  "Maple Street",
  "Lake House",
  "Harbour View",
  "Garden Cottage",
  "Orchard Lane",
  "Hilltop",
];

/** The usual rooms of each kind of device. */
export const usualRooms: Readonly<Record<DeviceKind, readonly string[]>> = {
  thermostats: [
    "Hallway",
    "Living Room",
    "Upstairs",
    "Downstairs",
    "Bedroom",
    "Family Room",
    "Office",
    "Den",
    "Basement",
  ],
  smoke_co_alarms: [
    "Kitchen",
    "Hallway",
    "Upstairs",
    "Bedroom",
    "Kids Room",
    "Garage",
    "Attic",
    "Basement",
    "Guest Room",
  ],
};

const rooms = [
  ...["Attic", "Basement", "Bathroom", "Bedroom", "Den", "Dining Room", "Downstairs", "Entryway", "Family Room"],
  ...["Garage", "Guest House", "Guest Room", "Hallway", "Kids Room", "Kitchen", "Living Room", "Master Bedroom"],
  ...["Office", "Shed", "Upstairs"],
];

/** The rooms of a new structure. */
export function wheresOf(structureId: string): Listing<Where> {
  return Object.fromEntries(
    rooms.map((name) => {
      const whereId = opaqueId(`${structureId}/where/${name}`, 43);
      return [whereId, { where_id: whereId, name }];
    }),
  );
}

function place(
  countryCode: string,
  postalCode: string,
  timeZone: string,
  locale: string,
  temperatureScale: "C" | "F",
): Place {
  return { countryCode, postalCode, timeZone, locale, temperatureScale };
}
