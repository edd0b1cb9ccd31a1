import { readFileSync } from "node:fs";
import { get } from "node:http";

/** Reference with only node:http and JSON.parse: one stream per token, each snapshot parsed. */
const { url, tokens } = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as { url: string; tokens: string[] };
const lineFeed = 10;
const data = Buffer.from("data: ");
export let last: unknown;

for (const token of tokens) {
  const headers = { accept: "text/event-stream", authorization: `Bearer ${token}` };
  get(url, { headers, agent: false }, (response) => {
    let waiting: Buffer[] = [];
    response.on("data", (chunk: Buffer) => {
      waiting.push(chunk);
      if (chunk.at(-1) !== lineFeed || chunk.at(-2) !== lineFeed) return;
      const event = waiting.length === 1 ? chunk : Buffer.concat(waiting);
      waiting = [];
      last = JSON.parse(event.toString("utf8", event.indexOf(data) + data.length));
    });
  });
}
process.stderr.write(`listening on ${url}\n`);
