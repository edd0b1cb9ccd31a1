/** A test or a suite that calls its cleanups when it ends. */
export interface Lifetime {
  after(cleanup: () => void): void;
}

/** Lifetime of resources that several tests share; the cleanups run in reverse order. */
export function suiteLifetime(): Lifetime & { end(): void } {
  const cleanups: (() => void)[] = [];
  return {
    after: (cleanup) => void cleanups.push(cleanup),
    end() {
      for (const cleanup of cleanups.splice(0).reverse()) cleanup();
    },
  };
}
