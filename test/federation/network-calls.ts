import type { Connector } from "../../src/ecosystems/connector.ts";

/** Counts the calls of a connector that are in progress. */
export class NetworkCalls {
  inProgress = 0;
  /** Renewals that were sent while another one of the same refresh token was in progress. */
  overlaps = 0;
  readonly #renewing = new Set<string>();

  /** The same connector. A stream is in progress until its first home. `renewing`: a renewal is sent. */
  counted(real: Connector, renewing: () => void): Connector & Required<Pick<Connector, "renew">> {
    return {
      ...real,
      read: (token, signal) => this.#during(real.read(token, signal)),
      renew: (credential, signal) => {
        renewing();
        const token = credential.refreshToken!;
        if (this.#renewing.has(token)) this.overlaps += 1;
        this.#renewing.add(token);
        return this.#during(real.renew!(credential, signal)).finally(() => this.#renewing.delete(token));
      },
      follow: async (token, listener, signal) => {
        const begun = Promise.withResolvers<void>();
        void this.#during(begun.promise);
        const home: typeof listener.home = (shown) => {
          listener.home(shown);
          begun.resolve();
        };
        return real.follow(token, { ...listener, home }, signal).finally(begun.resolve);
      },
    };
  }

  #during<Result>(work: Promise<Result>): Promise<Result> {
    this.inProgress += 1;
    return work.finally(() => {
      this.inProgress -= 1;
    });
  }
}
