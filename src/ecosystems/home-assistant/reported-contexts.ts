/** Limit of each list: contexts that were reported before their call was answered, and contexts that calls wait for. */
const mostRemembered = 256;

/** Tells when a state that a service call caused was reported. Home Assistant puts the call's context id into the state. */
export class ReportedContexts {
  readonly #recent = new Set<string>();
  readonly #awaited = new Map<string, () => void>();

  /** A state with this context was reported. */
  add(contextId: string): void {
    this.#awaited.get(contextId)?.();
    this.#awaited.delete(contextId);
    // Moved to the end: the set forgets the oldest first.
    this.#recent.delete(contextId);
    this.#recent.add(contextId);
    forgetOldest(this.#recent);
  }

  /** Whether a state with this context was reported a short time ago. */
  has(contextId: string): boolean {
    return this.#recent.has(contextId);
  }

  /** Resolves when a state with this context is reported, at once if it already was. It may never resolve. */
  whenReported(contextId: string): Promise<void> {
    if (this.#recent.has(contextId)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#awaited.set(contextId, resolve);
      forgetOldest(this.#awaited);
    });
  }
}

function forgetOldest(kept: Set<string> | Map<string, unknown>): void {
  const [oldest] = kept.keys();
  if (oldest !== undefined && kept.size > mostRemembered) kept.delete(oldest);
}
