/** A setting as people read it: secrets are masked. */
export interface ShownSetting {
  readonly variable: string;
  readonly value: string;
  /** Where the value comes from. */
  readonly from: string;
}

/** The source of a value that nobody has set. */
export const fromDefault = "default";
