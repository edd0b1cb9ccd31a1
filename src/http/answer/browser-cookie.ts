/** A cookie that binds a page to the browser that opened it. */
export interface BrowserCookie {
  read(cookies: string): string | undefined;
  /** The value of the Set-Cookie header. */
  set(secret: string): string;
  /** The value of the Set-Cookie header that removes the cookie. */
  clear(): string;
}

export interface CookieOptions {
  readonly plainName?: string;
  /** `Strict`: not sent with a navigation from another site either. */
  readonly sameSite?: "Lax" | "Strict";
}

/** `__Host-`: no other host and no plain http can set this cookie. Browsers refuse the prefix without https. */
export function browserCookie(
  baseUrl: () => string,
  maxAgeSeconds: number,
  { plainName = "breezeway", sameSite = "Lax" }: CookieOptions = {},
): BrowserCookie {
  const isSecure = () => baseUrl().startsWith("https:");
  const name = () => (isSecure() ? `__Host-${plainName}` : plainName);
  const header = (secret: string, seconds: number) =>
    `${name()}=${secret}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}${isSecure() ? "; Secure" : ""}`;
  return {
    read(cookies) {
      const prefix = `${name()}=`;
      const values = cookies.split(/; */).filter((pair) => pair.startsWith(prefix));
      // With two cookies of this name, another site has set one: ignore both.
      return values.length === 1 ? values[0]!.slice(prefix.length) : undefined;
    },
    set: (secret) => header(secret, maxAgeSeconds),
    clear: () => header("", 0),
  };
}
