/** The part of the system that has to be repaired after a failed row. */
export type Side = "service" | "between" | "ecosystem" | "client";

export const sides: Readonly<Record<Side, string>> = {
  service: "the service",
  between:
    "the service, or something in front of it (a proxy, a cache, a gateway); call the service directly to find out which",
  ecosystem: "the ecosystem",
  client: "the client, or the options of verify",
};

/** What a passed row saw; with `next` the row passed with a warning for the operator. */
export interface Observation {
  readonly seen: string;
  readonly next?: string;
}

export interface Finding {
  /** What the row saw and what it expected. */
  readonly seen: string;
  readonly side: Side;
  /** What the operator should do. */
  readonly next: string;
}

/** The deployment does not behave as the row expects. */
export class Failure extends Error {
  readonly finding: Finding;

  constructor(finding: Finding) {
    super(finding.seen);
    this.finding = finding;
  }
}

/** The row could not be run, because something that it needs is missing. */
export class NotRun extends Error {
  readonly next: string;

  constructor(reason: string, next: string) {
    super(reason);
    this.next = next;
  }
}

/** Throws a Failure unless the condition is true. */
export function ensure(isTrue: boolean, finding: () => Finding): asserts isTrue {
  if (!isTrue) throw new Failure(finding());
}
