import { readFileSync } from "node:fs";
import { get } from "node:http";

/** Reference with only node:http and Buffer.equals: one stream per token, each snapshot compared with the last one. */
const { url, tokens } = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as { url: string; tokens: string[] };
const lineFeed = 10;
export let same = 0;

for (const token of tokens) {
  const headers = { accept: "text/event-stream", authorization: `Bearer ${token}` };
  get(url, { headers, agent: false }, (response) => {
    let waiting: Buffer[] = [];
    let last: Buffer = Buffer.alloc(0);
    response.on("data", (chunk: Buffer) => {
      waiting.push(chunk);
      if (chunk.at(-1) !== lineFeed || chunk.at(-2) !== lineFeed) return;
      const event = waiting.length === 1 ? chunk : Buffer.concat(waiting);
      waiting = [];
      if (last.equals(event)) same += 1;
      else last = event;
    });
  });
}
process.stderr.write(`listening on ${url}\n`);
