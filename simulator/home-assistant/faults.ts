/** Faults that a test switches on. */
export interface Faults {
  /** The sockets stay open, but nothing is sent and nothing is answered: a half-open connection. */
  isMute: boolean;
  /** Commands of this type are not answered. */
  ignoresCommand: (type: string) => boolean;
  /** Service calls succeed without any effect. */
  ignoresCalls: boolean;
  /** Service calls succeed, and their entities show these attributes instead, with the context of the call. */
  shownInstead: Readonly<Record<string, unknown>> | undefined;
  /** Events of subscriptions wait; answers, and the first event of a new subscription, do not. */
  holdsEvents: boolean;
  /** New connections are refused with this HTTP status, or redirected. */
  refusal: number | undefined;
}

export function noFaults(): Faults {
  return {
    isMute: false,
    ignoresCommand: () => false,
    ignoresCalls: false,
    shownInstead: undefined,
    holdsEvents: false,
    refusal: undefined,
  };
}
