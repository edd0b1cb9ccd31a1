import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import pg from "pg";

/** Reference with only pg: a change in two pipelined round trips, prepared. A request starts some of them at a pace. */
const { url, tables } = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as { url: string; tables: string };
const pool = new pg.Pool({ connectionString: url, max: 6, pipeline: true, idleTimeoutMillis: 0 });
await pool.query(tables);
const lock = "SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE";
const read = `SELECT d.last_time_ms, a.value FROM devices d JOIN attributes a USING (user_id, device_id)
  WHERE d.user_id = $1 AND d.device_id = $1 AND a.number = 1 FOR NO KEY UPDATE OF d`;
const upsert = `INSERT INTO attributes VALUES ($1, $1, 1, $2, $3)
  ON CONFLICT (user_id, device_id, number) DO UPDATE SET value = excluded.value, time_ms = excluded.time_ms`;
const touch = "UPDATE devices SET last_time_ms = $2 WHERE user_id = $1 AND device_id = $1";
const log = "INSERT INTO log (user_id, device_id, kind, time_ms, body) VALUES ($1, $1, 'attribute', $2, $3)";
const known = (text: string, ...values: unknown[]) => ({ name: text.slice(0, 20), text, values });
const together = (client: pg.PoolClient, ...queries: (string | pg.QueryConfig)[]) => {
  process.nextTick(() => client.connection.stream.uncork());
  client.connection.stream.cork();
  return Promise.all(queries.map((query) => client.query(query)));
};
const change = async (id: number) => {
  const client = await pool.connect();
  const found = (await together(client, "BEGIN", known(lock, id), known(read, id)))[2]!.rows[0];
  const [timeMs, value] = [Math.max(Number(found.last_time_ms) + 1, Date.now()), found.value === "1" ? "0" : "1"];
  const entry = known(log, id, timeMs, JSON.stringify({ changes: [[1, value]] }));
  await together(client, known(upsert, id, value, timeMs), known(touch, id, timeMs), entry, "COMMIT");
  client.release();
};
const server = createServer(async (request, response) => {
  const [changes = 0, accounts = 1, perSecond = 1] = request.url!.slice(1).split("/").map(Number);
  const [startMs, made] = [performance.now(), [] as Promise<void>[]];
  for (; made.length < changes; await new Promise((turn) => setTimeout(turn, 1)))
    for (let due = Math.min(changes, ((performance.now() - startMs) * perSecond) / 1_000); made.length < due; )
      made.push(change(1 + (made.length % accounts)));
  response.end(String((await Promise.all(made)).length));
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
process.stderr.write(`listening on http://127.0.0.1:${(server.address() as { port: number }).port}\n`);
