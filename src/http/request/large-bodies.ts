import type { IncomingMessage, ServerResponse } from "node:http";
import { LimitReached } from "../../model/errors.ts";
import type { TenantId } from "../../model/ids.ts";
import { limits } from "../../model/limits.ts";

/** Bounds the memory that the large bodies of one tenant take while they arrive. */
export class LargeBodies {
  readonly #arriving = new Map<TenantId, number>();

  /** Reserves the bytes until the body has arrived, the request was answered or the client has disconnected. */
  reserve(tenantId: TenantId, bytes: number, request: IncomingMessage, response: ServerResponse): void {
    // The client has disconnected while its token was verified: there will be no further event.
    if (request.destroyed) return;
    const arriving = this.#bytesOf(tenantId) + bytes;
    if (arriving > limits.arrivingBytesPerTenant) {
      throw new LimitReached(
        "arrivingBytesPerTenant",
        `Large bodies of this tenant may have ${limits.arrivingBytesPerTenant} bytes together while they arrive. Send fewer at the same time.`,
      );
    }
    this.#arriving.set(tenantId, arriving);
    let isReserved = true;
    const release = () => {
      if (!isReserved) return;
      isReserved = false;
      const left = this.#bytesOf(tenantId) - bytes;
      if (left === 0) this.#arriving.delete(tenantId);
      else this.#arriving.set(tenantId, left);
    };
    request.once("close", release);
    // A body that is refused before its end is not read further.
    response.once("close", release);
  }

  #bytesOf(tenantId: TenantId): number {
    return this.#arriving.get(tenantId) ?? 0;
  }
}

/** The bytes that a body may have: its length, or `mostBytes` if the client does not say. */
export function announcedBytes({ headers }: IncomingMessage, mostBytes: number): number {
  return headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : mostBytes;
}
