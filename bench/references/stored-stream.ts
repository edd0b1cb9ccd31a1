import { readFileSync } from "node:fs";
import { get } from "node:http";
import { DatabaseSync } from "node:sqlite";

/** Reference with node:http, JSON.parse and node:sqlite: each snapshot is one indexed write and one log entry, in groups. */
const { url, tokens } = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as { url: string; tokens: string[] };
const lineFeed = 10;
const database = new DatabaseSync(`${process.argv[2]}.db`);
database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
CREATE TABLE attributes (device INTEGER, key INTEGER, value TEXT, PRIMARY KEY (device, key)) WITHOUT ROWID;
CREATE TABLE log (id INTEGER PRIMARY KEY, device INTEGER, value TEXT)`);
const write = database.prepare("INSERT OR REPLACE INTO attributes VALUES (?, 1, ?)");
const append = database.prepare("INSERT INTO log (device, value) VALUES (?, ?)");
let group: [device: number, value: string][] = [];
const commit = () => {
  database.exec("BEGIN IMMEDIATE");
  for (const [device, value] of group) {
    write.run(device, value);
    append.run(device, value);
  }
  database.exec("COMMIT");
  group = [];
};
for (const [device, token] of tokens.entries()) {
  const headers = { accept: "text/event-stream", authorization: `Bearer ${token}` };
  get(url, { headers, agent: false }, (response) => {
    let waiting: Buffer[] = [];
    response.on("data", (chunk: Buffer) => {
      waiting.push(chunk);
      if (chunk.at(-1) !== lineFeed || chunk.at(-2) !== lineFeed) return;
      const event = waiting.length === 1 ? chunk : Buffer.concat(waiting);
      waiting = [];
      const { path } = JSON.parse(event.toString("utf8", event.indexOf("{"))) as { path: string };
      if (group.push([device, `${path} ${event.length}`]) === 1) setImmediate(commit);
    });
  });
}
process.stderr.write(`listening on ${url}\n`);
