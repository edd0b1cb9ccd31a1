import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import type { Logger } from "../../runtime/runtime.ts";

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** The files of a certificate can't be used. The message names the setting. */
export class CertificateProblem extends Error {}

/** How often the files are checked, so that a renewal needs no signal to this process. */
const checkEveryMs = 60_000;

/** The certificate's status for monitoring. */
export interface CertificateStatus {
  /** When the certificate in use expires. */
  readonly expiresMs: number;
  /** Whether the files hold another certificate that can't be used. */
  readonly isRefused: boolean;
}

/** The certificate of the server. It changes as soon as the files hold a newer valid one. */
export class Certificate {
  readonly #files: CertificateFiles;
  readonly #report: Logger;
  readonly #nowMs: () => number;
  #fingerprint = "";
  #current: ReadCertificate | undefined;
  #refusal: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(files: CertificateFiles, report: Logger, nowMs: () => number = Date.now) {
    this.#files = files;
    this.#report = report;
    this.#nowMs = nowMs;
  }

  get status(): CertificateStatus {
    return { expiresMs: this.#current?.validTo.getTime() ?? 0, isRefused: this.#refusal !== undefined };
  }

  /**
   * Reads both files for the first time; throws CertificateProblem when they can't be used. An expired certificate is
   * used with a warning, because there is no other.
   */
  load(): SecureContextOptions {
    this.#fingerprint = this.#readFingerprint();
    const read = readCertificate(this.#files);
    const problem = this.#validityProblem(read);
    if (problem)
      this.#report.warn({ certFile: this.#files.certFile, validTo: read.validTo }, `the TLS certificate ${problem}`);
    this.#current = read;
    return read.context;
  }

  watch(use: (context: SecureContextOptions) => void): void {
    this.#timer = setInterval(() => this.check(use), checkEveryMs).unref();
  }

  /** Reads the files if they have changed. Refused files are tried again: their certificate may become valid later. */
  check(use: (context: SecureContextOptions) => void): void {
    if (this.#readFingerprint() !== this.#fingerprint || this.#refusal !== undefined) this.reload(use);
  }

  /** Reads the files. If they can't be used, the present certificate stays. */
  reload(use: (context: SecureContextOptions) => void): void {
    const fingerprint = this.#readFingerprint();
    const { certFile } = this.#files;
    try {
      const read = readCertificate(this.#files);
      const problem = this.#validityProblem(read);
      if (problem && this.#current && !this.#validityProblem(this.#current)) {
        throw new CertificateProblem(`BREEZEWAY_TLS_CERT_FILE: the certificate in ${certFile} ${problem}`);
      }
      use(read.context);
      this.#current = read;
      this.#refusal = undefined;
      this.#report.info({ certFile, validTo: read.validTo }, "the TLS certificate was reloaded");
    } catch (error) {
      if (!(error instanceof CertificateProblem)) throw error;
      // The same files with the same problem were reported before.
      const isKnown = this.#refusal === error.message && this.#fingerprint === fingerprint;
      this.#refusal = error.message;
      if (!isKnown)
        this.#report.error({ error }, "the TLS certificate files can't be used; the present certificate stays");
    }
    this.#fingerprint = fingerprint;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #validityProblem({ validFrom, validTo }: ReadCertificate): string | undefined {
    const nowMs = this.#nowMs();
    if (validTo.getTime() < nowMs) return `expired at ${validTo.toISOString()}`;
    return validFrom.getTime() > nowMs ? `is not valid before ${validFrom.toISOString()}` : undefined;
  }

  #readFingerprint(): string {
    return [this.#files.certFile, this.#files.keyFile].map(stampOf).join();
  }
}

/** Changes when the file is replaced or written. A file that is missing, or whose folder can't be searched, has none. */
function stampOf(file: string): string {
  try {
    const { ino, mtimeMs, size } = statSync(file);
    return `${ino} ${mtimeMs} ${size}`;
  } catch {
    return "";
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

/** The original error is dropped: it may quote the key. */
function parse<Result>(attempt: () => Result, sentence: string): Result {
  try {
    return attempt();
  } catch {
    throw new CertificateProblem(sentence);
  }
}
