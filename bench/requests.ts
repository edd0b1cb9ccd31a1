/** Raw HTTP requests, built before the measurement where possible. */
export function getRequest(path: string, accessToken?: string): string {
  const authorization = accessToken === undefined ? "" : `authorization: Bearer ${accessToken}\r\n`;
  return `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\n${authorization}\r\n`;
}

export function formRequest(
  path: string,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): string {
  const body = new URLSearchParams(form).toString();
  const lines = Object.entries({
    host: "127.0.0.1",
    accept: "application/json",
    "content-type": "application/x-www-form-urlencoded",
    "content-length": String(body.length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}
