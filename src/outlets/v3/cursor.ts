import { createHmac, timingSafeEqual } from "node:crypto";
import type { DevicePlace } from "../../devices/read.ts";
import type { Principal } from "../../identity/principal.ts";
import { BadParameter } from "../../model/errors.ts";
import type { ThingPlace } from "../../own-things/thing-reading.ts";

/**
 * Keyset cursors of a list: the position of the next page, with the list's filter. They never expire. Each is signed
 * for its list and its user or tenant, so another caller's cursor is as invalid as a forged one.
 */
export interface Cursors<Place> {
  write(caller: Principal, place: Place): string;
  read(caller: Principal, cursor: string): Place;
}

const signatureBytes = 32;

/** The lists with cursors. All nodes have the same key, so any node can answer the next page. */
export function cursorsWith(key: string): {
  readonly devices: Cursors<DevicePlace>;
  readonly things: Cursors<ThingPlace>;
  /** The id behind which the page begins. */
  readonly users: Cursors<number>;
} {
  return {
    users: cursorsOf(key, "users", {
      write: (afterId) => [afterId],
      read: ([afterId]) => afterId as number,
    }),
    devices: cursorsOf(key, "devices", {
      write: ({ afterId, typeName }) => [afterId, typeName],
      read: ([afterId, typeName]) => ({
        afterId: afterId as number,
        typeName: (typeName as string | null) ?? undefined,
      }),
    }),
    things: cursorsOf(key, "things", {
      write: ({ afterDevice, afterThing, kind, room, source, own }) => [
        afterDevice,
        afterThing,
        kind,
        room,
        source,
        ...(own ? [own.type ?? 0, own.afterDevice ?? 0] : []),
      ],
      read: ([afterDevice, afterThing, ...rest]) => {
        const [kind, room, source] = rest.slice(0, 3).map((value) => (value as string | null) ?? undefined);
        const [type, afterOwn] = rest.slice(3) as number[];
        return {
          afterDevice: afterDevice as number,
          afterThing: afterThing as string,
          kind,
          room,
          source,
          ...(type !== undefined && afterOwn !== undefined && { own: { type, afterDevice: afterOwn } }),
        };
      },
    }),
  };
}

/** How a position becomes the content of a cursor, a JSON list, and back. JSON writes undefined as null. */
interface Format<Place> {
  write(place: Place): readonly unknown[];
  read(content: readonly unknown[]): Place;
}

function cursorsOf<Place>(key: string, list: string, format: Format<Place>): Cursors<Place> {
  const sign = (caller: Principal, content: Buffer) =>
    createHmac("sha256", key)
      .update(`${list} of ${ownerOf(caller)}\n`)
      .update(content)
      .digest();
  return {
    write(caller, place) {
      const content = Buffer.from(JSON.stringify(format.write(place)));
      return Buffer.concat([sign(caller, content), content]).toString("base64url");
    },
    read(caller, cursor) {
      const bytes = Buffer.from(cursor, "base64url");
      const content = bytes.subarray(signatureBytes);
      // Node ignores characters that aren't base64url, and the spare bits of the last one.
      const isWhole = bytes.toString("base64url") === cursor && content.length > 0;
      if (!isWhole || !timingSafeEqual(bytes.subarray(0, signatureBytes), sign(caller, content))) {
        throw new BadParameter("cursor", "The parameter cursor must be one that this list answered to this caller.");
      }
      return format.read(JSON.parse(content.toString()) as readonly unknown[]);
    },
  };
}

/** The owner of a list, not the token: a refreshed token can continue where the old one stopped. */
function ownerOf(caller: Principal): string {
  return caller.kind === "user" ? `user ${caller.userId}` : `tenant ${caller.tenantId}`;
}
