import { groupIn, idIn } from "../../home/reported-things.ts";
import type { KnownThing } from "../feed.ts";
import type { RoledEntity } from "./grouping.ts";
import { unregistered } from "./registries.ts";
import { type Role, roleOf } from "./roles.ts";

/**
 * The main entities of stored things, by what the things are. An entity without a registry entry is known by its name
 * too; a registered one has a random id instead of its entity id.
 */
export function knownEntities(things: ReadonlyMap<string, KnownThing>): readonly RoledEntity[] {
  return [...things].flatMap(([key, thing]) => {
    const role = roleIn(key, thing);
    const id = idIn(key);
    const entity = { ...unregistered(id), isRegistered: !id.includes("."), originalName: thing.name };
    return role === undefined ? [] : [{ entity, role }];
  });
}

function roleIn(key: string, { traits }: KnownThing): Role | undefined {
  const group = groupIn(key);
  if (group === "alarm") return traits.smoke ? "smoke" : "carbonMonoxide";
  if (group !== "other") return undefined;
  return roleOf(idIn(key), undefined) ?? (traits.temperature ? "temperature" : traits.humidity && "humidity");
}
