import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { request } from "node:https";
import { connect as connectPlain } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { connect, type PeerCertificate, type SecureVersion, type TLSSocket } from "node:tls";
import { Certificate, CertificateProblem } from "../../src/http/connection/certificate.ts";
import { folderOf } from "../cli/made-folder.ts";
import { expire, hasOpenssl, makeCertificate } from "../set-up/certificate.ts";
import { closed } from "../set-up/closed-socket.ts";
import { breezeway, startChild } from "../stories/child-service.ts";
import { madeServer } from "./made-server.ts";

describe("a server with a certificate", { skip: hasOpenssl ? false : "openssl makes the certificate" }, () => {
  it("speaks TLS 1.2 and 1.3, and nothing older or plain", async (t) => {
    const made = makeCertificate(folderOf(t));
    const { server } = await madeServer(t, { certificate: made });
    assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/);
    const live = await ask(server.port, made.cert, "/livez");
    assert.deepEqual([live.status, JSON.parse(live.body).status], [200, "ok"]);
    for (const path of ["/livez", "/nowhere", "/v3/devices/1", "/metrics?", "/oauth2/authorize"]) {
      const { headers } = await ask(server.port, made.cert, path);
      assert.equal(headers["strict-transport-security"], "max-age=31536000", path);
    }
    assert.match(
      await rawOverTls(server.port, "NONSENSE\r\n\r\n"),
      /400 [\s\S]*\r\nstrict-transport-security: max-age=31536000\r\n/,
    );
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      assert.equal((await handshake(server.port, made.cert, version)).protocol, version);
    }
    await assert.rejects(handshake(server.port, made.cert, "TLSv1.1"));
    const plain = connectPlain(server.port, "127.0.0.1");
    let answered = "";
    plain.on("data", (bytes) => {
      answered += bytes;
    });
    plain.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
    await closed(plain);
    assert.doesNotMatch(answered, /200|status/);
  });

  it("uses a renewed certificate after a reload, and the old one while the new files are invalid", async (t) => {
    const folder = folderOf(t);
    const first = makeCertificate(folder, "first");
    const second = makeCertificate(folder, "second");
    const { server, reported } = await madeServer(t, { certificate: first });
    writeFileSync(first.certFile, "half a certific");
    server.reloadCertificate();
    assert.equal((await handshake(server.port, first.cert)).serial, first.serial);
    assert.ok(
      reported.some(
        ({ sentence }) => sentence === "the TLS certificate files can't be used; the present certificate stays",
      ),
    );
    copyFileSync(second.certFile, first.certFile);
    copyFileSync(second.keyFile, first.keyFile);
    server.reloadCertificate();
    assert.equal((await handshake(server.port, second.cert)).serial, second.serial);
    assert.equal((await ask(server.port, second.cert, "/livez")).status, 200);
  });

  it("doesn't replace a valid certificate by an expired or mismatched one, and reports it until it is valid", (t) => {
    const folder = folderOf(t);
    const shown = makeCertificate(folder, "shown", ["-days", "30"]);
    const [late, bad] = [makeCertificate(folder, "late"), makeCertificate(folder, "bad")];
    expire(bad);
    const logged: string[] = [];
    const report = {
      debug() {},
      info: (_: object, sentence: string) => void logged.push(sentence),
      warn() {},
      error: ({ error }: { error?: Error }) => void logged.push(error!.message),
    };
    let nowMs = Date.now();
    const certificate = new Certificate(shown, report, () => nowMs);
    const used: unknown[] = [certificate.load().cert];
    const put = (made: { certFile: string; keyFile: string }, key = made.keyFile) => {
      copyFileSync(made.certFile, shown.certFile);
      copyFileSync(key, shown.keyFile);
      certificate.check(({ cert }) => used.push(cert));
    };
    put(bad);
    assert.match(logged.at(-1)!, /^BREEZEWAY_TLS_CERT_FILE: the certificate in .*shown-cert\.pem expired at 20/);
    assert.deepEqual([used.length, certificate.status.isRefused], [1, true]);
    put(late, bad.keyFile);
    assert.match(logged.at(-1)!, /the key in .* doesn't belong to the certificate/);
    // With a clock that was wrong, a certificate becomes valid without a change of its files.
    nowMs += 3 * 86_400_000;
    put(late);
    const before = logged.length;
    certificate.check(({ cert }) => used.push(cert));
    assert.equal(logged.length, before, "the same problem is reported once");
    nowMs -= 3 * 86_400_000;
    certificate.check(({ cert }) => used.push(cert));
    assert.deepEqual([used, certificate.status.isRefused], [[shown.cert, late.cert], false]);
    assert.equal(certificate.status.expiresMs, new X509Certificate(late.cert).validToDate.getTime());
  });

  it("keeps its certificate while the files can't be reached, and says so once", (t) => {
    const made = makeCertificate(folderOf(t));
    const logged: string[] = [];
    const report = {
      debug() {},
      info() {},
      warn() {},
      error: ({ error }: { error?: Error }) => void logged.push(error!.message),
    };
    const certificate = new Certificate(made, report);
    certificate.load();
    rmSync(made.certFile);
    // The system refuses to follow it, as it refuses to search a folder without permission.
    symlinkSync(made.certFile, made.certFile);
    const used: unknown[] = [];
    for (let minute = 0; minute < 2; minute++) certificate.check(({ cert }) => used.push(cert));
    assert.deepEqual(logged, [`BREEZEWAY_TLS_CERT_FILE names a file that can't be read: ${made.certFile}`]);
    assert.deepEqual([used, certificate.status.isRefused], [[], true]);
    rmSync(made.certFile);
    writeFileSync(made.certFile, made.cert);
    certificate.check(({ cert }) => used.push(cert));
    assert.deepEqual([used, certificate.status.isRefused], [[made.cert], false]);
  });

  it("that has expired is used with a warning", async (t) => {
    const made = makeCertificate(folderOf(t));
    const warnings: string[] = [];
    const report = {
      debug() {},
      info() {},
      error() {},
      warn: (_: object, sentence: string) => void warnings.push(sentence),
    };
    const inThreeDays = () => Date.now() + 3 * 86_400_000;
    assert.equal(new Certificate(made, report).load().cert, made.cert);
    assert.deepEqual(warnings, []);
    assert.equal(new Certificate(made, report, inThreeDays).load().cert, made.cert);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /^the TLS certificate expired at 20/);
  });

  it("doesn't start with invalid files, and says which and why", (t) => {
    const folder = folderOf(t);
    const [one, other] = [makeCertificate(folder, "one"), makeCertificate(folder, "other")];
    const garbage = join(folder, "garbage.pem");
    writeFileSync(garbage, "SECRET-GARBAGE");
    const report = { debug() {}, info() {}, error() {}, warn() {} };
    const cases: readonly (readonly [{ certFile: string; keyFile: string }, RegExp])[] = [
      [
        { ...one, certFile: join(folder, "absent.pem") },
        /^BREEZEWAY_TLS_CERT_FILE names a file that can't be read: .*absent\.pem$/,
      ],
      [{ ...one, certFile: garbage }, /^BREEZEWAY_TLS_CERT_FILE: .*garbage\.pem holds no certificate in PEM$/],
      [
        { ...one, keyFile: garbage },
        /^BREEZEWAY_TLS_KEY_FILE: .*garbage\.pem holds no private key in PEM, or one with a passphrase$/,
      ],
      [
        { ...one, keyFile: other.keyFile },
        /^BREEZEWAY_TLS_KEY_FILE: the key in .*other.* doesn't belong to the certificate in .*one/,
      ],
    ];
    for (const [files, sentence] of cases) {
      assert.throws(
        () => new Certificate(files, report).load(),
        (error) => error instanceof CertificateProblem && sentence.test(error.message),
      );
    }
  });
});

describe("the service with a certificate", { skip: hasOpenssl ? false : "openssl makes the certificate" }, () => {
  it("listens on https, and reads the files again at SIGHUP", { timeout: 30_000 }, async (t) => {
    const folder = folderOf(t);
    const first = makeCertificate(folder, "first");
    const second = makeCertificate(folder, "second");
    const { environment } = serving(folder, first);
    const service = await startChild("serve", environment);
    t.after(() => service.process.kill("SIGKILL"));
    assert.match(service.baseUrl, /^https:\/\/127\.0\.0\.1:\d+$/);
    const port = Number(new URL(service.baseUrl).port);
    const metadata = await ask(port, first.cert, "/.well-known/oauth-authorization-server");
    assert.equal(JSON.parse(metadata.body).issuer, service.baseUrl);
    copyFileSync(second.certFile, first.certFile);
    copyFileSync(second.keyFile, first.keyFile);
    service.process.kill("SIGHUP");
    // The service handles the signal in the next turn of its event loop.
    while ((await handshakeUnverified(port)).serial !== second.serial) t.signal.throwIfAborted();
    const refused = async () =>
      /^breezeway_tls_certificate_refused (\d)$/m.exec((await ask(port, second.cert, "/metrics")).body)?.[1];
    assert.equal(await refused(), "0");
    expire(first);
    service.process.kill("SIGHUP");
    while ((await refused()) !== "1") t.signal.throwIfAborted();
    assert.equal((await handshakeUnverified(port)).serial, second.serial);
    service.process.kill("SIGTERM");
    assert.equal(await service.ended, 0);
  });

  it("ends with exit code 3 when its files are invalid", { timeout: 30_000 }, async (t) => {
    const folder = folderOf(t);
    const [one, other] = [makeCertificate(folder, "one"), makeCertificate(folder, "other")];
    const { code, stderr } = await breezeway(["serve"], serving(folder, { ...one, keyFile: other.keyFile }));
    assert.equal(code, 3);
    assert.match(
      stderr,
      /The configuration has a problem:\n {2}- BREEZEWAY_TLS_KEY_FILE: the key in .* doesn't belong/,
    );
  });
});

function serving(folder: string, { certFile, keyFile }: { certFile: string; keyFile: string }) {
  const tls = { BREEZEWAY_TLS_CERT_FILE: certFile, BREEZEWAY_TLS_KEY_FILE: keyFile };
  return { environment: { BREEZEWAY_DATA: join(folder, "data"), BREEZEWAY_PORT: "0", ...tls } };
}

async function ask(port: number, ca: string, path: string) {
  const asking = request({ host: "127.0.0.1", port, path, ca, servername: "localhost", agent: false });
  asking.end();
  const [answer] = await once(asking, "response");
  let body = "";
  for await (const piece of answer.setEncoding("utf8")) body += piece;
  return { status: answer.statusCode as number, headers: answer.headers as IncomingHttpHeaders, body };
}

/** Sends the text unchanged and returns everything that the server sent until it closed the connection. */
async function rawOverTls(port: number, text: string): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
  let answer = "";
  socket.on("data", (part) => {
    answer += part;
  });
  socket.write(text);
  await closed(socket);
  return answer;
}

async function handshake(port: number, ca: string, version?: SecureVersion) {
  const range = version && { minVersion: version, maxVersion: version, ciphers: "DEFAULT@SECLEVEL=0" };
  return handshakeResult(connect({ host: "127.0.0.1", port, ca, servername: "localhost", ...range }));
}

const handshakeUnverified = (port: number) =>
  handshakeResult(connect({ host: "127.0.0.1", port, rejectUnauthorized: false }));

async function handshakeResult(socket: TLSSocket) {
  await once(socket, "secureConnect");
  const { serialNumber } = socket.getPeerCertificate() as PeerCertificate;
  const shown = { protocol: socket.getProtocol(), serial: serialNumber.toUpperCase() };
  socket.destroy();
  return shown;
}
