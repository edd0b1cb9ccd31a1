import { knownAttribute } from "./write.ts";

/** The names in one value of the parameter `attribute`: many clients send a list as `a,b`. */
export function namesIn(value: string): readonly string[] {
  if (!value.includes(",")) return [value];
  const names = value.split(",").map((name) => name.trim());
  const nonEmpty = names.filter((name) => name !== "");
  return nonEmpty.length === 0 ? [value] : nonEmpty;
}

/**
 * The attribute names in the values of the parameter `attribute`, for a query about these devices. An empty list stands
 * for all devices within the caller's access. When all devices are linked accounts, a name that no linked account has
 * throws UnknownAttribute. Otherwise a value with a comma is also kept whole, because an ordinary device may have an
 * attribute with that name.
 */
export function parseAttributeNames(
  values: readonly string[],
  devices: readonly { readonly isVirtual: boolean }[],
): readonly string[] {
  const areVirtual = areAllVirtual(devices);
  const names = values.flatMap((value) => (areVirtual ? namesIn(value) : [value, ...namesIn(value)]));
  refuseUnknown(names, devices);
  return [...new Set(names)];
}

/** Throws UnknownAttribute when all devices are linked accounts and have no attribute of one of the names. */
export function refuseUnknown(names: readonly string[], devices: readonly { readonly isVirtual: boolean }[]): void {
  if (areAllVirtual(devices)) for (const name of names) knownAttribute(name);
}

function areAllVirtual(devices: readonly { readonly isVirtual: boolean }[]): boolean {
  return devices.length > 0 && devices.every(({ isVirtual }) => isVirtual);
}
