/** Who has to do something about what was found. */
export type Side = "service" | "between" | "ecosystem" | "client";

export const sides: Readonly<Record<Side, string>> = {
  service: "the service",
  between: "the service, or something before it (a proxy, a cache, a gateway); ask the service directly to tell which",
  ecosystem: "the ecosystem",
  client: "the client, or what verify was given",
};

/** What a row saw when nothing is wrong; with `next`, something that an operator should still look at. */
export interface Seen {
  readonly seen: string;
  readonly next?: string;
}

export interface Finding {
  /** What was there, beside what should have been. */
  readonly seen: string;
  readonly side: Side;
  /** What to do about it. */
  readonly next: string;
}

/** The deployment does not do what the row asks of it. */
export class Failure extends Error {
  readonly finding: Finding;

  constructor(finding: Finding) {
    super(finding.seen);
    this.finding = finding;
  }
}

/** The row can't tell: something that it needs isn't there. */
export class NotRun extends Error {
  readonly next: string;

  constructor(reason: string, next: string) {
    super(reason);
    this.next = next;
  }
}

/** Goes on only when a claim holds. */
export function claim(isTrue: boolean, finding: () => Finding): asserts isTrue {
  if (!isTrue) throw new Failure(finding());
}
