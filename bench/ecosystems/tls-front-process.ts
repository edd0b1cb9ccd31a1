import cluster from "node:cluster";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { createServer } from "node:tls";

/**
 * Runs as a child process: accepts TLS and passes the plain bytes on to a server on this machine. Two workers share its
 * port, because each connection takes two open files of a worker. They end with their parent.
 */
const [targetPort, keyFile, certFile] = process.argv.slice(2) as [string, string, string];
const workers = 2;

process.on("disconnect", () => process.exit());
if (cluster.isPrimary) {
  let listening = 0;
  cluster.on("listening", (_, { port }) => {
    listening += 1;
    if (listening === workers) process.send?.({ url: `https://127.0.0.1:${port}` });
  });
  for (let nth = 0; nth < workers; nth++) cluster.fork();
} else {
  const options = { key: readFileSync(keyFile), cert: readFileSync(certFile) };
  const front = createServer(options, (encrypted) => {
    const plain = connect(Number(targetPort), "127.0.0.1");
    for (const socket of [encrypted, plain]) socket.on("error", () => undefined);
    encrypted.pipe(plain).pipe(encrypted);
    encrypted.once("close", () => plain.destroy());
    plain.once("close", () => encrypted.destroy());
  });
  front.listen({ port: 0, host: "127.0.0.1", backlog: 2_048 });
}
