/** Contexts that are remembered in case the answer of their call comes later, and calls that wait for theirs. */
const remembered = 256;

/** Recognises the states that a service call has caused: they carry the context of the call. */
export class ShownContexts {
  readonly #recent = new Set<string>();
  readonly #awaited = new Map<string, () => void>();

  /** A state with this context was reported. */
  show(contextId: string): void {
    this.#awaited.get(contextId)?.();
    this.#awaited.delete(contextId);
    // Moved to the end: the set forgets the oldest first.
    this.#recent.delete(contextId);
    this.#recent.add(contextId);
    forgetOldest(this.#recent);
  }

  /** Resolves when a state with this context was reported, also before this call; otherwise never. */
  shown(contextId: string): Promise<void> {
    if (this.#recent.has(contextId)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#awaited.set(contextId, resolve);
      forgetOldest(this.#awaited);
    });
  }
}

function forgetOldest(kept: Set<string> | Map<string, unknown>): void {
  const [oldest] = kept.keys();
  if (oldest !== undefined && kept.size > remembered) kept.delete(oldest);
}
