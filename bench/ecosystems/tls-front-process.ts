import { readFileSync } from "node:fs";
import { type AddressInfo, connect } from "node:net";
import { createServer } from "node:tls";

/** Runs as a child process: accepts TLS and passes the plain bytes on to a server on this machine. Ends with its parent. */
const [targetPort, keyFile, certFile] = process.argv.slice(2) as [string, string, string];

const options = { key: readFileSync(keyFile), cert: readFileSync(certFile) };
const front = createServer(options, (encrypted) => {
  const plain = connect(Number(targetPort), "127.0.0.1");
  for (const socket of [encrypted, plain]) socket.on("error", () => undefined);
  encrypted.pipe(plain).pipe(encrypted);
  encrypted.once("close", () => plain.destroy());
  plain.once("close", () => encrypted.destroy());
});
process.on("disconnect", () => process.exit());
front.listen({ port: 0, host: "127.0.0.1", backlog: 2_048 }, () =>
  process.send?.({ url: `https://127.0.0.1:${(front.address() as AddressInfo).port}` }),
);
