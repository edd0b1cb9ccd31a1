/** The one cookie we set: what it holds ties a login page to the browser that opened it. */
export interface BrowserCookie {
  read(cookies: string): string | undefined;
  /** The header that sets it. */
  set(secret: string): string;
}

/** `__Host-`: no other host and no plain http can set it in our place; without https browsers refuse the prefix. */
export function browserCookie(baseUrl: () => string, maxAgeSeconds: number): BrowserCookie {
  const isSecure = () => baseUrl().startsWith("https:");
  const name = () => (isSecure() ? "__Host-breezeway" : "breezeway");
  return {
    read(cookies) {
      const prefix = `${name()}=`;
      const values = cookies.split(/; */).filter((pair) => pair.startsWith(prefix));
      // Two of them: one was put there by somebody else.
      return values.length === 1 ? values[0]!.slice(prefix.length) : undefined;
    },
    set: (secret) =>
      `${name()}=${secret}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure() ? "; Secure" : ""}`,
  };
}
