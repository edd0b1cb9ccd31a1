/** An invalid value of a setting. The message is the end of a sentence that begins with the setting's name. */
export class InvalidSetting extends Error {}

/** Checks an address of HTTP. Slashes at its end are removed. */
export function httpUrl(text: string): string {
  if (!URL.canParse(text)) throw new InvalidSetting(`is "${text}", which is not an address`);
  const url = new URL(text);
  // URL accepts other forms too, and spaces around them, but the text itself is kept.
  if (!/^https?:\/\/[^/\\]/i.test(text)) throw new InvalidSetting("must begin with http:// or https://");
  if (/\s/.test(text)) throw new InvalidSetting("must have no spaces or line breaks");
  if (url.username || url.password || /[?#]/.test(text))
    throw new InvalidSetting("must have no user, query or fragment");
  return text.replace(/\/+$/, "");
}

/** The http address of a server on this host and port. An IPv6 address gets its brackets. */
export function plainAddress(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
