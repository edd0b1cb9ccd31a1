import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { nestConnector } from "../../src/ecosystem/nest/connector.ts";
import { EcosystemUnreachable } from "../../src/model/errors.ts";
import { putFrame } from "./byte-server.ts";
import { listen } from "./listening.ts";
import { makeDocument } from "./made-documents.ts";

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

describe("a Nest ecosystem over https", { skip: hasOpenssl ? false : "openssl makes the certificate" }, () => {
  it("is read and followed when its certificate is trusted, and gets no token when it isn't", async (t) => {
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
  const { key, cert } = makeCertificate();
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

function makeCertificate(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-https-"));
  try {
    const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    const files = ["-keyout", keyFile, "-out", certFile];
    execFileSync("openssl", ["req", "-x509", "-nodes", "-days", "2", ...curve, ...subject, ...files], {
      stdio: "ignore",
    });
    return { key: readFileSync(keyFile, "utf8"), cert: readFileSync(certFile, "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
