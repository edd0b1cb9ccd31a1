/** Which Breezeway this is. */
export interface Build {
  readonly version: string;
  /** The short hash of its commit, or "unknown". */
  readonly commit: string;
  /** The schema version that it brings a store to. */
  readonly schema: number;
}
