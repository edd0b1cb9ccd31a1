/** One attempt to deliver a message. */
export interface Try {
  /** Counts the attempts of the delivery, from 1. A node that stopped or died leaves a gap. */
  readonly attempt: number;
  readonly timeMs: number;
  readonly tookMs: number;
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null;
  readonly text: string | null;
}

/** The attempts of a delivery, as far as they are recorded. Nodes of older versions record none. */
export interface DeliveryHistory {
  /** The message was sent before, and somebody has asked for it again. */
  readonly isResend: boolean;
  /** The newest attempts, oldest first. */
  readonly tries: readonly Try[];
}

/** A message is tried about thirty times before it is given up after a day. The newest attempts are kept. */
export const triesKept = 10;

export function withTry(history: DeliveryHistory | null, made: Try): DeliveryHistory {
  return { isResend: history?.isResend ?? false, tries: [...(history?.tries ?? []), made].slice(-triesKept) };
}

/** Tuples, because a webhook may have thousands of deliveries. */
type StoredTry = readonly [attempt: number, timeMs: number, tookMs: number, status: number | null, text: string | null];

interface StoredHistory {
  readonly isResend?: true;
  readonly tries: readonly StoredTry[];
}

export function historyToText({ isResend, tries }: DeliveryHistory): string {
  const stored: StoredHistory = {
    ...(isResend && { isResend }),
    tries: tries.map(({ attempt, timeMs, tookMs, status, text }) => [attempt, timeMs, tookMs, status, text]),
  };
  return JSON.stringify(stored);
}

export function historyFromText(stored: string | null): DeliveryHistory | null {
  if (stored === null) return null;
  const { isResend = false, tries } = JSON.parse(stored) as StoredHistory;
  return {
    isResend,
    tries: tries.map(([attempt, timeMs, tookMs, status, text]) => ({ attempt, timeMs, tookMs, status, text })),
  };
}
