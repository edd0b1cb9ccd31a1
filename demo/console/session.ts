import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Access to the console: only the browser that first opened the link from the terminal has it. */
export interface Sessions {
  /** The one-time secret of a new link, valid for half an hour. Earlier claims become invalid. */
  newClaim(): string;
  /** Whether the claim was valid. A valid claim is used up. */
  spend(claim: string): boolean;
  isOpen(cookies: string, port: number): boolean;
  /** The `set-cookie` header that gives a browser access. */
  cookie(port: number): string;
  /** CSRF token of the page's forms. */
  readonly formToken: string;
}

const claimMs = 30 * 60_000;
const cookieSeconds = 30 * 86_400;

/** The key is stored in the folder, so that cookies stay valid after a restart. */
export function sessionsOn(folder: string, nowMs: () => number = Date.now): Sessions {
  const key = keyIn(join(folder, "demo-console-key"));
  const derived = (purpose: string) => createHmac("sha256", key).update(purpose).digest("base64url");
  const secret = derived("cookie");
  // Browsers send cookies to all ports of a host: two demos would overwrite each other's cookie.
  const name = (port: number) => `breezeway-console-${port}`;
  let claim: { readonly secret: string; readonly untilMs: number } | undefined;
  return {
    formToken: derived("form"),
    newClaim() {
      claim = { secret: randomBytes(16).toString("base64url"), untilMs: nowMs() + claimMs };
      return claim.secret;
    },
    spend(presented) {
      const isValid = claim !== undefined && nowMs() < claim.untilMs && isSame(presented, claim.secret);
      if (isValid) claim = undefined;
      return isValid;
    },
    isOpen(cookies, port) {
      const prefix = `${name(port)}=`;
      return cookies.split(/; */).some((pair) => pair.startsWith(prefix) && isSame(pair.slice(prefix.length), secret));
    },
    cookie: (port) => `${name(port)}=${secret}; Path=/demo/; Max-Age=${cookieSeconds}; HttpOnly; SameSite=Lax`,
  };
}

/** Compares in constant time. */
export function isSame(presented: string, secret: string): boolean {
  const [one, other] = [Buffer.from(presented), Buffer.from(secret)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function keyIn(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString("base64url"), { mode: 0o600 });
  return readFileSync(file, "utf8");
}
