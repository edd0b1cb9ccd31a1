/** Starts something on its usual port or, when that is taken, on the next free one, and says so. */
export async function onFreePort<Started>(
  port: number,
  who: string,
  start: (port: number) => Promise<Started>,
): Promise<Started> {
  for (let candidate = port; ; candidate++) {
    try {
      const started = await start(candidate);
      if (candidate !== port) process.stderr.write(`${who} takes port ${candidate}, because ${port} is taken.\n`);
      return started;
    } catch (error) {
      const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
      if (!isTaken || candidate >= Math.min(port + 20, 65_535)) throw error;
    }
  }
}
