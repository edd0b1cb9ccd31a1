import { readFileSync } from "node:fs";
import { get as getPlain } from "node:http";
import { get as getOverTls } from "node:https";

/** Reference with only node:http or node:https: one held stream per token, of which nothing is kept. */
const { url, tokens } = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as { url: string; tokens: string[] };

const get = url.startsWith("https:") ? getOverTls : getPlain;
for (const token of tokens) {
  const headers = { accept: "text/event-stream", authorization: `Bearer ${token}` };
  get(url, { headers, agent: false }, (response) => response.resume());
}
// Without a stream the process would end.
setInterval(() => undefined, 60_000);
process.stderr.write(`listening on ${url}\n`);
