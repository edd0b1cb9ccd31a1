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
    // A path has no space.
    set: (notice, target) => cookie.set(encodeURIComponent(`${pathOf(target)} ${notice}`)),
    read(cookies, target) {
      const start = `${pathOf(target)} `;
      const text = decode(cookie.read(cookies) ?? "");
      return text.startsWith(start) ? text.slice(start.length) : undefined;
    },
    clear: () => cookie.clear(),
  };
}

const pathOf = (address: string) => address.split(/[?#]/)[0]!;

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return "";
  }
}
