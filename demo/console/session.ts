import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Access to the console: only the browser that first opened the link from the terminal has it. */
export interface Sessions {
  /** A new link's secret: it opens once, within half an hour. The ones before it open no more. */
  newClaim(): string;
  /** Whether a link's secret is good; it is spent by asking. */
  spend(claim: string): boolean;
  isOpen(cookies: string, port: number): boolean;
  /** The header that opens the console to a browser. */
  cookie(port: number): string;
  /** What a form of the page carries, so that no other page can press its buttons. */
  readonly formToken: string;
}

const claimMs = 30 * 60_000;
const cookieSeconds = 30 * 86_400;

/** The key is kept: a tab that is open goes on after a restart. */
export function sessionsOn(folder: string, nowMs: () => number = Date.now): Sessions {
  const key = keyIn(join(folder, "demo-console-key"));
  const derived = (what: string) => createHmac("sha256", key).update(what).digest("base64url");
  const secret = derived("cookie");
  // Browsers don't tell ports apart: two demos would take each other's cookie for a wrong one.
  const name = (port: number) => `breezeway-console-${port}`;
  let claim: { readonly secret: string; readonly untilMs: number } | undefined;
  return {
    formToken: derived("form"),
    newClaim() {
      claim = { secret: randomBytes(16).toString("base64url"), untilMs: nowMs() + claimMs };
      return claim.secret;
    },
    spend(given) {
      const isGood = claim !== undefined && nowMs() < claim.untilMs && isSame(given, claim.secret);
      if (isGood) claim = undefined;
      return isGood;
    },
    isOpen(cookies, port) {
      const prefix = `${name(port)}=`;
      return cookies.split(/; */).some((pair) => pair.startsWith(prefix) && isSame(pair.slice(prefix.length), secret));
    },
    cookie: (port) => `${name(port)}=${secret}; Path=/console/; Max-Age=${cookieSeconds}; HttpOnly; SameSite=Lax`,
  };
}

export function isSame(given: string, secret: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(secret)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function keyIn(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString("base64url"), { mode: 0o600 });
  return readFileSync(file, "utf8");
}
