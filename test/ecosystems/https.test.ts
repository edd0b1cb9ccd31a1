import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { nestConnector } from "../../src/ecosystems/nest/connector.ts";
import { EcosystemUnreachable } from "../../src/model/errors.ts";
import { hasOpenssl, makeCertificate } from "../set-up/certificate.ts";
import { putFrame } from "./byte-server.ts";
import { listen } from "./listening.ts";
import { makeDocument } from "./made-documents.ts";

describe("a Nest ecosystem over https", { skip: hasOpenssl ? false : "needs openssl to make a certificate" }, () => {
  it("gets no token while its certificate is not trusted, and is read and followed once it is", async (t) => {
    const { url, certificate, requests } = await startEncrypted(t);
    const connector = nestConnector({ name: "nest", apiUrl: url, allowedHosts: [] });
    const signal = new AbortController().signal;
    await assert.rejects(connector.read("c.token", signal), EcosystemUnreachable);
    assert.equal((await listen(connector, "c.token").ended).reason, "unreachable");
    assert.deepEqual(requests, []);

    setDefaultCACertificates([...getCACertificates(), certificate]);
    assert.equal((await connector.read("c.token", signal)).structures.byId.size, 1);
    const stream = listen(connector, "c.token");
    await stream.until(1);
    stream.stop();
    assert.equal((await stream.ended).reason, "stopped");
    assert.deepEqual(requests, ["Bearer c.token", "Bearer c.token"]);
  });
});

async function startEncrypted(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-https-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const { keyFile, cert } = makeCertificate(folder);
  const key = readFileSync(keyFile, "utf8");
  const requests: (string | undefined)[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    requests.push(request.headers.authorization);
    const isStream = request.headers.accept === "text/event-stream";
    response.setHeader("Content-Type", isStream ? "text/event-stream" : "application/json");
    if (isStream) response.write(putFrame(makeDocument()));
    else response.end(JSON.stringify(makeDocument()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, certificate: cert, requests };
}
