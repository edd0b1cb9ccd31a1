/** Whether a host is this machine itself, by its name or its address, in brackets or not. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || /^(\[?::1\]?|127(\.\d+){3})$/.test(host);
}
