import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Reference with only node:http: sends the same answer to every request. */
const answer = readFileSync(process.argv[2]!);
const headers = { "content-type": "application/json; charset=utf-8", "content-length": answer.length };

const server = createServer({ keepAliveTimeout: 72_000 }, (_request, response) => {
  response.writeHead(200, headers).end(answer);
});
server.listen(0, "127.0.0.1", () => {
  process.stderr.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
