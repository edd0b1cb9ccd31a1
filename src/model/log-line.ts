export type LineLevel = "debug" | "info" | "warn" | "error";

/** Log lines that are kept of one request, and bytes of a line's fields. */
export const lineBounds = { perRequest: 20, bytes: 2_000 };

/** A line that the log has, redacted as the log is. */
export interface LogLine {
  readonly timeMs: number;
  readonly level: LineLevel;
  readonly sentence: string;
  /** Short plain values as they are: JSON is made only when the line is read. Anything else is JSON, cut. */
  readonly fields: object | string;
}
