import { type AttributeNumber, type AttributePlace, attributeCount, placeOf } from "./attribute-names.ts";
import type { Eviction } from "./index-map.ts";

/** The attributes whose meaning changed because their slot passed to another id. */
export function attributesOfLostSlots(evicted: readonly Eviction[]): ReadonlySet<AttributeNumber> {
  const lost = new Set<AttributeNumber>();
  if (evicted.length === 0) return lost;
  for (let number = 0; number < attributeCount; number++) {
    const place = placeOf(number);
    if (evicted.some((eviction) => isWithin(place, eviction))) lost.add(number);
  }
  return lost;
}

/** Eviction of a structure includes all its attributes and devices. */
function isWithin(place: AttributePlace, eviction: Eviction): boolean {
  if (place.kind === "account" || place.x !== eviction.x) return false;
  if (eviction.kind === "structure") return true;
  return place.kind === eviction.kind && place.y === eviction.y;
}
