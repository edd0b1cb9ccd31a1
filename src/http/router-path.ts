/** A colon that begins no path parameter, as in `/v3/devices:batch`, is doubled for Fastify's router. */
export function routerPath(path: string): string {
  return path.replace(/(?<!\/):/g, "::");
}

/** The path of a route, from Fastify's address of it. */
export function pathOfRoute(routerUrl: string | undefined): string | undefined {
  return routerUrl?.replaceAll("::", ":");
}
