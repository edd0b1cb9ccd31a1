import { readFileSync } from "node:fs";
import Fastify from "fastify";

/** Reference with one Fastify route: sends the same answer for every device. */
const answer = readFileSync(process.argv[2]!);

const app = Fastify({ logger: false, keepAliveTimeout: 72_000 });
app.get("/v3/devices/:deviceId", (_request, reply) => {
  reply.header("content-type", "application/json; charset=utf-8").send(answer);
});
const url = await app.listen({ host: "127.0.0.1", port: 0 });
process.stderr.write(`listening on ${url}\n`);
