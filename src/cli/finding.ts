/** The result of one check, and the next step. */
export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warn" | "fail";
  readonly words: string;
  readonly next?: string;
}
