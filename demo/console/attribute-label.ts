import type { HouseView } from "./house-view.ts";

/** The user's name for the home or device, and the attribute's name within it: `Maple Street · away`. */
export function labelOf({ attributes, lamp }: HouseView, deviceId: number, name: string): string {
  if (deviceId === lamp.deviceId) return `${lamp.name} · ${name}`;
  // A summary attribute (o.) belongs to the home of the same index.
  const [, home, owner = ".a", field] = /^[do]\.(structures\[\d\])(\.a|\.d\.\w+\[\d+\])?\.(.+)$/.exec(name) ?? [];
  const named = attributes.find((attribute) => attribute.name === `d.${home}${owner}.name`);
  return named && field ? `${named.value} · ${field}` : name;
}
