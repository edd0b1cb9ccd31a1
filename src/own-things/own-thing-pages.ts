import type { ReadThing } from "../devices/read-thing.ts";
import type { AccessScope } from "../model/access-scope.ts";
import type { TenantId } from "../model/ids.ts";
import type { Transaction } from "../store/seam.ts";
import type { MappedDeviceRow } from "../store/tables/mapped-devices.ts";
import type { ThingFilter } from "../store/tables/things.ts";
import type { OwnThings, OwnThingTables } from "./own-things.ts";

/**
 * The position after which a page begins. A tenant's things are listed type by type, each by its index, because a
 * tenant may have a million devices. A user's are listed by device.
 */
export interface OwnPlace {
  readonly type?: number;
  readonly afterDevice?: number;
}

export interface OwnPage {
  readonly things: readonly ReadThing[];
  readonly next: OwnPlace | undefined;
}

/** Bounds the work for a page with a filter by room. Such a page can be short or empty. */
const devicesExamined = 500;

export async function ownPage(
  tx: OwnThingTables & Pick<Transaction, "users">,
  ownThings: OwnThings,
  accessScope: AccessScope,
  filter: ThingFilter & { readonly own?: OwnPlace | undefined },
  limit: number,
): Promise<OwnPage> {
  const { own: { type = 0, afterDevice = 0 } = {}, kind, room } = filter;
  const tenantId = accessScope.kind === "user" ? await tenantOf(tx, accessScope) : accessScope.tenantId;
  const rows = tenantId === undefined ? [] : await tx.deviceTypeMaps.ofTenant(tenantId);
  const typeIds = rows
    .filter((row) => row.typeId >= type && isOfKind(ownThings.maps.read(row)?.map, kind))
    .map(({ typeId }) => typeId);
  // A page of a tenant is of one type; the next page may be of the following type.
  const typesOfPages = accessScope.kind === "user" ? [typeIds] : typeIds.map((typeId) => [typeId]);
  const [types = [], following] = typesOfPages;
  if (types.length === 0) return { things: [], next: undefined };
  const isSameType = accessScope.kind === "user" || types[0] === type;
  const most = room === undefined ? limit : devicesExamined;
  const place = { afterId: isSameType ? afterDevice : 0, typeIds: types };
  // One extra row shows whether more follow.
  const found = await tx.mappedDevices.page(accessScope, place, most + 1);
  const examined = found.slice(0, most);
  const inRoom = examined.filter((device) => room === undefined || device.room === room);
  const shown = inRoom.slice(0, limit);
  const things = await ownThings.derive(tx, shown);
  const last = inRoom.length > shown.length ? shown.at(-1) : examined.at(-1);
  if (inRoom.length > shown.length || found.length > examined.length) {
    return { things, next: placeAfter(accessScope, last!, types) };
  }
  return { things, next: following && { type: following[0]!, afterDevice: 0 } };
}

function isOfKind(map: { readonly kind: string } | undefined, kind: string | undefined): boolean {
  return map !== undefined && (kind === undefined || map.kind === kind);
}

function placeAfter(accessScope: AccessScope, { id }: MappedDeviceRow, types: readonly number[]): OwnPlace {
  return accessScope.kind === "user" ? { afterDevice: id } : { type: types[0]!, afterDevice: id };
}

async function tenantOf(
  tx: Pick<Transaction, "users">,
  { userId }: Extract<AccessScope, { readonly kind: "user" }>,
): Promise<TenantId | undefined> {
  return (await tx.users.byId(userId))?.tenantId;
}
