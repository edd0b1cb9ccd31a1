import { execFileSync, spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

/** A certificate for localhost that vouches for itself, and its key, as files in that folder. */
export function makeCertificate(folder: string, name = "localhost", validity = ["-days", "2"]) {
  const [keyFile, certFile] = [join(folder, `${name}-key.pem`), join(folder, `${name}-cert.pem`)];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const files = ["-keyout", keyFile, "-out", certFile];
  execFileSync("openssl", ["req", "-x509", "-nodes", ...validity, ...curve, ...subject, ...files], { stdio: "ignore" });
  const cert = readFileSync(certFile, "utf8");
  return { keyFile, certFile, cert, serial: new X509Certificate(cert).serialNumber.toUpperCase() };
}

/** Signs the certificate again, so that it has expired since yesterday. */
export function expire({ certFile, keyFile }: { readonly certFile: string; readonly keyFile: string }): void {
  const args = ["x509", "-in", certFile, "-signkey", keyFile, "-days", "-1", "-out", certFile];
  execFileSync("openssl", args, { stdio: "ignore" });
}
