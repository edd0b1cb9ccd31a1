import type { Report } from "../../../verify/report/report.ts";

/** The last runs of `breezeway verify` on this deployment. Every node reads the same ones. */
export interface Verifications {
  /** Newest first. */
  list(): Promise<readonly Verification[]>;
  /** With its whole report; undefined when it is not among the stored ones. */
  find(verificationId: string): Promise<ReportedVerification | undefined>;
  /**
   * Starts a run in the background and stores its report at its end. Rejects with Conflict while another is under way.
   * The signal ends the run when the service stops, or when it takes too long.
   */
  start(begun: BegunVerification, run: (signal: AbortSignal) => Promise<Report>): Promise<Verification>;
  /** Stores the report of a run that another process made. */
  keep(begun: BegunVerification, report: Report): Promise<Verification>;
}

export interface BegunVerification {
  /** The address that is verified. */
  readonly url: string;
  /** The operator's name; `local` for a command on the machine. */
  readonly by: string;
}

export interface Verification extends BegunVerification {
  readonly verificationId: string;
  readonly startedMs: number;
  /** What the report says in short; undefined while it runs, and if it came to none. */
  readonly result?: Omit<Report, "url" | "startedTime" | "rows">;
  /** Why there is no report. */
  readonly problem?: string;
}

export interface ReportedVerification extends Verification {
  readonly rows: Report["rows"];
}
