import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type { SecureContextOptions } from "node:tls";
import type { Report } from "../model/surroundings.ts";

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** What is wrong with the files of a certificate, in a sentence that names the setting. */
export class CertificateProblem extends Error {}

/** How often the files are looked at: whoever renews certificates need not know how to tell us. */
const lookEveryMs = 60_000;

/** The certificate that the server shows, and the newer one once it is there. */
export class Certificate {
  readonly #files: CertificateFiles;
  readonly #report: Report;
  readonly #nowMs: () => number;
  #stamp = "";
  #validToMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(files: CertificateFiles, report: Report, nowMs: () => number = Date.now) {
    this.#files = files;
    this.#report = report;
    this.#nowMs = nowMs;
  }

  /** Reads both files; throws CertificateProblem when they are no good. One that has expired is shown all the same. */
  load(): SecureContextOptions {
    this.#stamp = this.#stampNow();
    const { cert, key, validTo } = readCertificate(this.#files);
    if (validTo.getTime() < this.#nowMs()) {
      this.#report.warn({ certFile: this.#files.certFile, validTo }, "the TLS certificate has expired");
    }
    this.#validToMs = validTo.getTime();
    // TLS 1.0 and 1.1 are out of use (RFC 8996).
    return { cert, key, minVersion: "TLSv1.2" };
  }

  /** When the certificate that was read last expires. */
  get validToMs(): number | undefined {
    return this.#validToMs;
  }

  watch(use: (context: SecureContextOptions) => void): void {
    this.#timer = setInterval(() => {
      if (this.#stampNow() !== this.#stamp) this.reload(use);
    }, lookEveryMs).unref();
  }

  /** Bad files change nothing: a service with an old certificate is worth more than none. */
  reload(use: (context: SecureContextOptions) => void): void {
    try {
      use(this.load());
      this.#report.info({ certFile: this.#files.certFile }, "the TLS certificate was read anew");
    } catch (error) {
      if (!(error instanceof CertificateProblem)) throw error;
      this.#report.error({ error }, "the TLS certificate stays as it was");
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #stampNow(): string {
    return [this.#files.certFile, this.#files.keyFile]
      .map((file) => statSync(file, { throwIfNoEntry: false }))
      .map((found) => (found ? `${found.ino} ${found.mtimeMs} ${found.size}` : ""))
      .join();
  }
}

function readCertificate({ certFile, keyFile }: CertificateFiles) {
  const cert = read("BREEZEWAY_TLS_CERT_FILE", certFile);
  const key = read("BREEZEWAY_TLS_KEY_FILE", keyFile);
  const certificate = parse(
    () => new X509Certificate(cert),
    `BREEZEWAY_TLS_CERT_FILE: ${certFile} holds no certificate in PEM`,
  );
  const privateKey = parse(
    () => createPrivateKey(key),
    `BREEZEWAY_TLS_KEY_FILE: ${keyFile} holds no private key in PEM, or one with a passphrase`,
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new CertificateProblem(
      `BREEZEWAY_TLS_KEY_FILE: the key in ${keyFile} doesn't belong to the certificate in ${certFile}`,
    );
  }
  return { cert, key, validTo: certificate.validToDate };
}

function read(variable: string, file: string): string {
  return parse(() => readFileSync(file, "utf8"), `${variable} names a file that can't be read: ${file}`);
}

/** The reader's own words are left out: they may quote the key. */
function parse<Result>(attempt: () => Result, sentence: string): Result {
  try {
    return attempt();
  } catch {
    throw new CertificateProblem(sentence);
  }
}
