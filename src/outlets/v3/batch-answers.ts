import { errorFields } from "../../http/answer/error-response.ts";
import type { BreezewayError } from "../../model/errors.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { LineOutcome } from "../../provisioning/batch-lines.ts";

/** The answer to one line, as it is stored: the id of the device, or why the line was refused. */
export type StoredLine = DeviceId | LineRefusal;

export interface LineRefusal {
  readonly status: number;
  readonly error: string;
  readonly error_description: string;
}

export function storedLine<Done>(outcome: LineOutcome<Done>, idOf: (done: Done) => DeviceId): StoredLine {
  return "done" in outcome ? idOf(outcome.done) : refusalOf(outcome.refused);
}

export function refusalOf(error: BreezewayError): LineRefusal {
  const { status, code, sentence } = errorFields(error);
  return { status, error: code, error_description: sentence };
}

/** The answer to line `number`, counted from 1, of a batch that adds devices. */
export function answerLine(number: number, answer: StoredLine): string {
  const fields = typeof answer === "number" ? { status: 201, deviceId: answer } : answer;
  return `${JSON.stringify({ line: number, ...fields })}\n`;
}

/** The last line of a batch that could not be carried out to its end. */
export function brokenOffLine(number: number, error: unknown): string {
  const { status, code, sentence } = errorFields(error);
  const description = `${sentence} The batch ended before line ${number}: repeat it with its Idempotency-Key, or send the rest.`;
  return `${JSON.stringify({ line: number, status, error: code, error_description: description, isLast: true })}\n`;
}
