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
  /** Without https the port is part of the name: browsers send a cookie to all ports of a host. */
  readonly namesPort?: true;
  /** `Strict`: not sent with a navigation from another site either. */
  readonly sameSite?: "Lax" | "Strict";
}

/** Of an operator's session. `Strict`: pages of other sites can't even link into a session. */
export const operatorCookieOptions: CookieOptions = {
  plainName: "breezeway-operator",
  namesPort: true,
  sameSite: "Strict",
};

/** The name of a cookie. `__Host-`: no other host and no plain http can set it; browsers refuse the prefix without https. */
export function cookieName(baseUrl: string, { plainName = "breezeway", namesPort }: CookieOptions): string {
  if (baseUrl.startsWith("https:")) return `__Host-${plainName}`;
  return namesPort && URL.canParse(baseUrl) ? `${plainName}-${new URL(baseUrl).port || "80"}` : plainName;
}

export function browserCookie(
  baseUrl: () => string,
  maxAgeSeconds: number,
  { sameSite = "Lax", ...named }: CookieOptions = {},
): BrowserCookie {
  const isSecure = () => baseUrl().startsWith("https:");
  const name = () => cookieName(baseUrl(), named);
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
