import type { Incoming } from "./incoming.ts";

/** Does something that is told to end when the client closes its connection: nobody would read the answer. */
export async function whileConnected<Result>(
  { connection }: Pick<Incoming, "connection">,
  act: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const gone = new AbortController();
  const end = () => gone.abort();
  if (connection.destroyed) end();
  connection.once("close", end);
  try {
    return await act(gone.signal);
  } finally {
    connection.off("close", end);
  }
}
