import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import type { Report } from "../../runtime/runtime.ts";

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** What is wrong with the files of a certificate, in a sentence that names the setting. */
export class CertificateProblem extends Error {}

/** How often the files are looked at: whoever renews certificates need not know how to tell us. */
const lookEveryMs = 60_000;

/** What monitoring sees of it. */
export interface CertificateStatus {
  /** When the certificate that is shown expires. */
  readonly expiresMs: number;
  /** Whether the files hold something else, which is no good. */
  readonly isRefused: boolean;
}

/** The certificate that the server shows, and the newer one as soon as that is good. */
export class Certificate {
  readonly #files: CertificateFiles;
  readonly #report: Report;
  readonly #nowMs: () => number;
  #stamp = "";
  #shown: ReadCertificate | undefined;
  #refusal: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(files: CertificateFiles, report: Report, nowMs: () => number = Date.now) {
    this.#files = files;
    this.#report = report;
    this.#nowMs = nowMs;
  }

  get status(): CertificateStatus {
    return { expiresMs: this.#shown?.validTo.getTime() ?? 0, isRefused: this.#refusal !== undefined };
  }

  /**
   * Reads both files for the first time; throws CertificateProblem when they are no good. An expired certificate is
   * shown with a warning: there is no other.
   */
  load(): SecureContextOptions {
    this.#stamp = this.#stampNow();
    const read = readCertificate(this.#files);
    const problem = this.#outsideItsTime(read);
    if (problem)
      this.#report.warn({ certFile: this.#files.certFile, validTo: read.validTo }, `the TLS certificate ${problem}`);
    this.#shown = read;
    return read.context;
  }

  watch(use: (context: SecureContextOptions) => void): void {
    this.#timer = setInterval(() => this.look(use), lookEveryMs).unref();
  }

  /** Reads the files if they have changed. Refused ones are tried again: a certificate may become valid later. */
  look(use: (context: SecureContextOptions) => void): void {
    if (this.#stampNow() !== this.#stamp || this.#refusal !== undefined) this.reload(use);
  }

  /** Bad files change nothing: a good certificate is worth more than a bad new one. */
  reload(use: (context: SecureContextOptions) => void): void {
    const stamp = this.#stampNow();
    const { certFile } = this.#files;
    try {
      const read = readCertificate(this.#files);
      const problem = this.#outsideItsTime(read);
      if (problem && this.#shown && !this.#outsideItsTime(this.#shown)) {
        throw new CertificateProblem(`BREEZEWAY_TLS_CERT_FILE: the certificate in ${certFile} ${problem}`);
      }
      use(read.context);
      this.#shown = read;
      this.#refusal = undefined;
      this.#report.info({ certFile, validTo: read.validTo }, "the TLS certificate was read anew");
    } catch (error) {
      if (!(error instanceof CertificateProblem)) throw error;
      // The same files with the same problem were reported before.
      const isKnown = this.#refusal === error.message && this.#stamp === stamp;
      this.#refusal = error.message;
      if (!isKnown) this.#report.error({ error }, "the TLS certificate stays as it was");
    }
    this.#stamp = stamp;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #outsideItsTime({ validFrom, validTo }: ReadCertificate): string | undefined {
    const nowMs = this.#nowMs();
    if (validTo.getTime() < nowMs) return `expired at ${validTo.toISOString()}`;
    return validFrom.getTime() > nowMs ? `is not valid before ${validFrom.toISOString()}` : undefined;
  }

  #stampNow(): string {
    return [this.#files.certFile, this.#files.keyFile]
      .map((file) => statSync(file, { throwIfNoEntry: false }))
      .map((found) => (found ? `${found.ino} ${found.mtimeMs} ${found.size}` : ""))
      .join();
  }
}

interface ReadCertificate {
  readonly context: SecureContextOptions;
  readonly validFrom: Date;
  readonly validTo: Date;
}

function readCertificate({ certFile, keyFile }: CertificateFiles): ReadCertificate {
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
  // TLS 1.0 and 1.1 are out of use (RFC 8996).
  const context: SecureContextOptions = { cert, key, minVersion: "TLSv1.2" };
  parse(
    () => createSecureContext(context),
    `BREEZEWAY_TLS_CERT_FILE: TLS can't use ${certFile}: its key is too short, or what follows the certificate is no certificate`,
  );
  return { context, validFrom: certificate.validFromDate, validTo: certificate.validToDate };
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
