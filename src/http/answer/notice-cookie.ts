import { browserCookie, type CookieOptions } from "./browser-cookie.ts";

/** What was done, for the page to which a form leads. It is shown once: neither a reload nor the address shows it again. */
export interface NoticeCookie {
  /** The Set-Cookie header of the redirect to this page. */
  set(notice: string, target: string): string;
  /** The notice for this page; undefined when there is none. */
  read(cookies: string, target: string): string | undefined;
  /** The Set-Cookie header of the page that shows it. */
  clear(): string;
}

/** A browser opens the page at once. */
const seconds = 60;

export function noticeCookie(baseUrl: () => string, options: CookieOptions): NoticeCookie {
  const cookie = browserCookie(baseUrl, seconds, { sameSite: "Strict", ...options });
  return {
    set: (notice, target) => cookie.set(encodeURIComponent(JSON.stringify([notice, pathOf(target)]))),
    read(cookies, target) {
      const [notice, path] = parsed(cookie.read(cookies) ?? "");
      return path === pathOf(target) && typeof notice === "string" ? notice : undefined;
    },
    clear: () => cookie.clear(),
  };
}

const pathOf = (address: string) => address.split(/[?#]/)[0]!;

function parsed(value: string): readonly unknown[] {
  try {
    const found: unknown = JSON.parse(decodeURIComponent(value));
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}
