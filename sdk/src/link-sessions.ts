import { isTemporary } from "./refusals.ts";
import type { CallOptions, WriteOptions } from "./transport.ts";
import type { V3 } from "./v3.ts";
import { pause } from "./waiting.ts";

/** The account to be linked, and where the user returns to. */
export interface NewLinkSession {
  readonly ecosystem: string;
  /** With an enterprise token: the user whose account will see the home. Without it, the user who signs in. */
  readonly userId?: number | undefined;
  /** `renew` replaces the credential of an existing link. `link` by default. */
  readonly mode?: "link" | "renew" | undefined;
  /** One of the return addresses registered for the client. */
  readonly returnUrl?: string | undefined;
  /** Comes back unchanged with `returnUrl`. */
  readonly state?: string | undefined;
}

/** How a link session stands. */
export interface LinkSession {
  readonly id: string;
  readonly ecosystem: string;
  readonly mode: "link" | "renew";
  /** Null until a user has signed in. */
  readonly userId: number | null;
  readonly status: "pending" | "linked" | "declined" | "failed" | "expired";
  /** The linked device; only when `linked`. */
  readonly deviceId?: number;
  /** What went wrong last, and on which side. */
  readonly problem?: {
    readonly side: "ecosystem" | "client" | "breezeway";
    readonly code: string;
    readonly description: string;
  };
  readonly createdTime: number;
  readonly expiresTime: number;
}

/** A link session that this client has created. */
export interface OpenLinkSession {
  readonly id: string;
  /** The address of the page. It holds a secret: open it in the user's browser, and show it to nobody else. */
  readonly url: string;
  /** Until when the page can be used. */
  readonly expiresTime: number;
  /** Reads how the session stands. */
  get(options?: CallOptions): Promise<LinkSession>;
  /** Waits until the session is no longer `pending`: at most until it has expired, 30 minutes after its creation. */
  wait(options?: CallOptions): Promise<LinkSession>;
}

const pollMs = 2_000;

/** @internal */
export async function createLinkSession(
  v3: V3,
  session: NewLinkSession,
  options: WriteOptions,
): Promise<OpenLinkSession> {
  const created = await v3.call<Pick<OpenLinkSession, "id" | "url" | "expiresTime">>("POST", "/link-sessions", {
    json: session,
    ...options,
  });
  return {
    ...created,
    get: (question = {}) => readLinkSession(v3, created.id, question),
    wait: (question = {}) => waitForLinkSession(v3, created.id, question),
  };
}

/** @internal */
export function readLinkSession(v3: V3, id: string, { signal }: CallOptions): Promise<LinkSession> {
  return v3.call("GET", `/link-sessions/${encodeURIComponent(id)}`, { signal });
}

/** @internal */
export async function waitForLinkSession(v3: V3, id: string, options: CallOptions): Promise<LinkSession> {
  for (;;) {
    try {
      const session = await readLinkSession(v3, id, options);
      if (session.status !== "pending") return session;
    } catch (error) {
      // The session goes on while the service can't be reached.
      if (!isTemporary(error)) throw error;
    }
    await pause(pollMs, options.signal);
  }
}
