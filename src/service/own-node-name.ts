import { hostname } from "node:os";

/** Host and port of this node; undefined while its port is not known yet. */
export function ownNodeName(configuredPort: number, listensAt: string): string | undefined {
  const port = configuredPort || (listensAt === "" ? 0 : new URL(listensAt).port);
  return port ? `${hostname()}:${port}` : undefined;
}
