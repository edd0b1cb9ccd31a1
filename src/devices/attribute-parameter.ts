import { knownAttribute } from "./write.ts";

/** The names in one value of the parameter `attribute`: many clients send a list as `a,b`. */
export function namesIn(value: string): readonly string[] {
  if (!value.includes(",")) return [value];
  const names = value.split(",").map((name) => name.trim());
  const given = names.filter((name) => name !== "");
  return given.length === 0 ? [value] : given;
}

/**
 * The attribute names in the values of the parameter `attribute`, for a question about these devices; none means about
 * all devices that the caller reaches. When all of them are linked accounts, a name that no linked account has throws
 * UnknownAttribute. An ordinary device may have an attribute with a comma in its name, so that name stays in the answer.
 */
export function askedNames(
  values: readonly string[],
  devices: readonly { readonly isVirtual: boolean }[],
): readonly string[] {
  const areVirtual = areAllVirtual(devices);
  const names = values.flatMap((value) => (areVirtual ? namesIn(value) : [value, ...namesIn(value)]));
  refuseUnknown(names, devices);
  return [...new Set(names)];
}

/** Throws UnknownAttribute when all the devices are linked accounts and one of the names is none of their attributes. */
export function refuseUnknown(names: readonly string[], devices: readonly { readonly isVirtual: boolean }[]): void {
  if (areAllVirtual(devices)) for (const name of names) knownAttribute(name);
}

function areAllVirtual(devices: readonly { readonly isVirtual: boolean }[]): boolean {
  return devices.length > 0 && devices.every(({ isVirtual }) => isVirtual);
}
