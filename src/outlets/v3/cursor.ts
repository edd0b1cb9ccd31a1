import { createHmac, timingSafeEqual } from "node:crypto";
import type { DevicePlace } from "../../devices/read.ts";
import type { Principal } from "../../identity/principal.ts";
import { BadParameter } from "../../model/errors.ts";

/**
 * Keyset cursors of the device list: the position of the next page, with the list's filter. They never expire. Each is
 * signed for its user or tenant, so another caller's cursor is as invalid as a forged one.
 */
export interface Cursors {
  write(caller: Principal, place: DevicePlace): string;
  read(caller: Principal, cursor: string): DevicePlace;
}

const signatureBytes = 32;

/** All nodes have the same key, so any node can answer the next page. */
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
      // Node ignores characters that aren't base64url, and the spare bits of the last one.
      const isWhole = bytes.toString("base64url") === cursor && content.length > 0;
      if (!isWhole || !timingSafeEqual(bytes.subarray(0, signatureBytes), sign(caller, content))) {
        throw new BadParameter("cursor", "The parameter cursor must be one that this list answered to this caller.");
      }
      const [afterId, typeName] = JSON.parse(content.toString()) as [number, string | null];
      return { afterId, typeName: typeName ?? undefined };
    },
  };
}

/** The owner of a list, not the token: a refreshed token can continue where the old one stopped. */
function ownerOf(caller: Principal): string {
  return caller.kind === "user" ? `user ${caller.userId}` : `tenant ${caller.tenantId}`;
}
