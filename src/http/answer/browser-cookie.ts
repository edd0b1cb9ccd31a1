/** A cookie that binds a page to the browser that opened it. */
export interface BrowserCookie {
  read(cookies: string): string | undefined;
  /** The value of the Set-Cookie header. */
  set(secret: string): string;
}

/** `__Host-`: no other host and no plain http can set this cookie. Browsers refuse the prefix without https. */
export function browserCookie(baseUrl: () => string, maxAgeSeconds: number, plainName = "breezeway"): BrowserCookie {
  const isSecure = () => baseUrl().startsWith("https:");
  const name = () => (isSecure() ? `__Host-${plainName}` : plainName);
  return {
    read(cookies) {
      const prefix = `${name()}=`;
      const values = cookies.split(/; */).filter((pair) => pair.startsWith(prefix));
      // With two cookies of this name, another site has set one: ignore both.
      return values.length === 1 ? values[0]!.slice(prefix.length) : undefined;
    },
    set: (secret) =>
      `${name()}=${secret}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure() ? "; Secure" : ""}`,
  };
}
