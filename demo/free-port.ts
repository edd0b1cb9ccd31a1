/** Starts a server on its usual port. If the port is taken, uses the next free one and prints that. */
export async function onFreePort<Started>(
  port: number,
  name: string,
  start: (port: number) => Promise<Started>,
): Promise<Started> {
  for (let candidate = port; ; candidate++) {
    try {
      const started = await start(candidate);
      if (candidate !== port) process.stderr.write(`${name} takes port ${candidate}, because ${port} is taken.\n`);
      return started;
    } catch (error) {
      const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
      if (!isTaken || candidate >= Math.min(port + 20, 65_535)) throw error;
    }
  }
}
