import { createHmac, timingSafeEqual } from "node:crypto";
import type { DevicePlace } from "../../devices/read.ts";
import type { Principal } from "../../identity/principal.ts";
import { BadParameter } from "../../model/errors.ts";

/**
 * The cursors of the device list: where the next page begins, with the list's filter. They never expire. Each is signed
 * for the user or tenant whose list it is, so that another's is as worthless as one that was made up.
 */
export interface Cursors {
  write(caller: Principal, place: DevicePlace): string;
  read(caller: Principal, cursor: string): DevicePlace;
}

const signatureBytes = 32;

/** All nodes have the same key: whichever answered the last page, any can answer the next. */
export function cursorsWith(key: string): Cursors {
  const sign = (caller: Principal, content: Buffer) =>
    createHmac("sha256", key)
      .update(`devices of ${ownerOf(caller)}\n`)
      .update(content)
      .digest();
  return {
    write(caller, { afterId, typeName }) {
      const content = Buffer.from(JSON.stringify([afterId, typeName]));
      return Buffer.concat([sign(caller, content), content]).toString("base64url");
    },
    read(caller, cursor) {
      const bytes = Buffer.from(cursor, "base64url");
      const content = bytes.subarray(signatureBytes);
      // Node passes over what isn't base64url, and over the last letter's spare bits.
      const isWhole = bytes.toString("base64url") === cursor && content.length > 0;
      if (!isWhole || !timingSafeEqual(bytes.subarray(0, signatureBytes), sign(caller, content))) {
        throw new BadParameter("cursor", "The parameter cursor must be one that this list answered to this caller.");
      }
      const [afterId, typeName] = JSON.parse(content.toString()) as [number, string | null];
      return { afterId, typeName: typeName ?? undefined };
    },
  };
}

/** Who a list belongs to, and not which token asked for it: a refreshed token goes on where the old one was. */
function ownerOf(caller: Principal): string {
  return caller.kind === "user" ? `user ${caller.userId}` : `tenant ${caller.tenantId}`;
}
