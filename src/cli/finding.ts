/** The result of one check of the machine, and what to do about it. */
export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warn" | "fail";
  readonly words: string;
  readonly next?: string;
}
