import type { Home, Listing } from "../home/home.ts";
import type { Thing } from "../home/thing.ts";
import { cleanText } from "../model/clean-text.ts";

/** What an account shows, for the page that tells its owner: one entry for each structure. */
export type HomeSummary = readonly StructureSummary[];

export interface StructureSummary {
  /** Null when the ecosystem tells no name. */
  readonly name: string | null;
  readonly thermostats: number;
  readonly alarms: number;
  readonly others: number;
}

/** The largest number of structures on the page; few accounts have more than two. */
const mostStructures = 5;
const longestName = 100;

export function summaryOf(home: Home): HomeSummary {
  const count = (listing: Listing<Thing> | undefined, structureId: string, isOnly: boolean) =>
    [...(listing?.byId.values() ?? [])].filter((sighting) => {
      const of = sighting.isRead ? sighting.object.structureId : sighting.partial.structureId;
      // In an account of one structure, everything belongs to it.
      return of === structureId || isOnly;
    }).length;
  const structures = [...home.structures.byId].slice(0, mostStructures);
  const isOnly = home.structures.byId.size === 1;
  return structures.map(([id, sighting]) => {
    const name = (sighting.isRead ? sighting.object.name : sighting.partial.name) ?? null;
    return {
      name: name === null ? null : [...cleanText(name)].slice(0, longestName).join(""),
      thermostats: count(home.thermostats, id, isOnly),
      alarms: count(home.alarms, id, isOnly),
      others: count(home.others, id, isOnly),
    };
  });
}

/** `Maple Street: 2 thermostats, 3 alarms`. */
export function summaryLine({ name, thermostats, alarms, others }: StructureSummary): string {
  const parts = [
    counted(thermostats, "thermostat"),
    counted(alarms, "alarm"),
    counted(others, thermostats + alarms > 0 ? "other thing" : "thing"),
  ].filter((part) => part !== "");
  return `${name ?? "Your home"}: ${parts.join(", ") || "no devices that can be shown"}`;
}

function counted(count: number, noun: string): string {
  if (count === 0) return "";
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
