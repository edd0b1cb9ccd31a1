import { type AttributeNumber, type AttributePosition, attributeCount, positionOf } from "./attribute-names.ts";
import type { Eviction } from "./index-map.ts";

/** The attributes whose meaning changed because their slot passed to another id. */
export function attributesOfLostSlots(evicted: readonly Eviction[]): ReadonlySet<AttributeNumber> {
  const lost = new Set<AttributeNumber>();
  if (evicted.length === 0) return lost;
  for (let number = 0; number < attributeCount; number++) {
    const position = positionOf(number);
    if (evicted.some((eviction) => isWithin(position, eviction))) lost.add(number);
  }
  return lost;
}

/** Eviction of a structure includes all its attributes and devices. */
function isWithin(position: AttributePosition, eviction: Eviction): boolean {
  if (position.kind === "account" || position.x !== eviction.x) return false;
  if (eviction.kind === "structure") return true;
  return position.kind === eviction.kind && position.y === eviction.y;
}
