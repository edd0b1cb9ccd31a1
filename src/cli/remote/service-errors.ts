import * as sdk from "../../../sdk/src/index.ts";
import { BadParameter, BreezewayError } from "../../model/errors.ts";
import { exitCodes } from "../exit-codes.ts";

/** Facts about a call that the SDK's error lacks. */
export interface CallFacts {
  /** After a lost answer the outcome of a write is unknown. */
  readonly isWrite?: boolean;
  /** The device that the call named. */
  readonly deviceId?: number | undefined;
  /** What to do when the service refuses the token. */
  readonly nextStep?: string;
}

/** The SDK's error as an error of the command line, with its exit code. Any other error is returned as it is. */
export function commandError(error: unknown, baseUrl: string, { isWrite, deviceId, nextStep }: CallFacts): unknown {
  if (error instanceof sdk.Unreachable) return new Unreachable(baseUrl, error, isWrite);
  if (error instanceof sdk.InvalidArgument) return new BadParameter("argument", error.message);
  if (error instanceof sdk.UnexpectedAnswer) return notTheInterface(error, baseUrl);
  if (!(error instanceof sdk.ServiceError)) return error;
  const { status = 401, code, errorCode } = error;
  // A proxy answered in the place of the service.
  if (code === `http_${status}`) return new ServiceRefused(status, String(status), answered(baseUrl, status));
  // The service writes "This device" for the device in the path, which the user of a command does not see.
  const sentence =
    deviceId === undefined ? error.message : error.message.replace(/^This device\b/, `Device ${deviceId}`);
  const next = status === 401 && nextStep !== undefined ? ` ${nextStep}` : "";
  return new ServiceRefused(status, String(errorCode ?? code), `${sentence}${next}`);
}

function notTheInterface(error: sdk.UnexpectedAnswer, baseUrl: string): BreezewayError {
  const { status = 200, message } = error;
  if (status >= 400) return new ServiceRefused(status, String(status), answered(baseUrl, status));
  if (status >= 300) return new Redirected(message);
  return new ServiceRefused(status, error.code, `${baseUrl} does not answer as Breezeway does. ${message}`);
}

function answered(baseUrl: string, status: number): string {
  return `The service at ${baseUrl} answered ${status}.`;
}

/** The service refused a call, with this sentence. */
export class ServiceRefused extends BreezewayError {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, sentence: string) {
    super(sentence);
    this.status = status;
    this.code = code;
  }

  get exitCode(): number {
    if (this.code === "read_only_attribute") return exitCodes.usage;
    if (this.code === adaptorErrors.ecosystemRefused) return exitCodes.notAuthorised;
    const isRefusal = this.status >= 400 && this.status < 500;
    return byStatus[this.status] ?? (isRefusal ? exitCodes.usage : exitCodes.failed);
  }
}

/** Whether the service is down or overloaded, so that a later try may succeed. */
export function isOutage(error: unknown): boolean {
  return error instanceof Unreachable || (error instanceof ServiceRefused && error.status === 503);
}

/** The adaptor's numbers that commands react to. */
export const adaptorErrors = { notLinked: "119", ecosystemRefused: "121" } as const;

const byStatus: Readonly<Record<number, number>> = {
  401: exitCodes.notAuthorised,
  403: exitCodes.notAuthorised,
  404: exitCodes.notFound,
  409: exitCodes.conflict,
  429: exitCodes.unreachable,
  503: exitCodes.unreachable,
};

/** No answer came. */
export class Unreachable extends BreezewayError {
  readonly code = "unreachable";
  readonly exitCode = exitCodes.unreachable;
  /** A timeout: the connection is possible, but no answer arrived in time. */
  readonly isSilence: boolean;

  constructor(address: string, error: sdk.Unreachable, isWrite = false) {
    const reason = reasonOf(error);
    super(
      isWrite && !unsent.includes(reason)
        ? `The connection to ${address} broke before it answered (${reason}). The change may have been made or not: look before you repeat it.`
        : `Nothing answers at ${address} (${reason}). Is it running there? See: breezeway doctor`,
      { cause: error },
    );
    this.isSilence = error.cause === undefined;
  }
}

/** There was no connection: nothing was sent. */
const unsent: readonly string[] = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"];

/** The innermost cause: the operating system's code if there is one, else its message without the final dot. */
function reasonOf(error: Error): string {
  let cause = error;
  while (cause.cause instanceof Error) cause = cause.cause;
  const code = "code" in cause && cause !== error ? cause.code : undefined;
  return typeof code === "string" ? code : cause.message.replace(/\.$/, "");
}

/** The address answered with a redirect. It was not followed, because the request carries a secret. */
export class Redirected extends BreezewayError {
  readonly code = "redirected";
  readonly exitCode = exitCodes.usage;
}
