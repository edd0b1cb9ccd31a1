import type { Connector } from "../../src/ecosystems/connector.ts";

/** Counts the calls of a connector that are in progress. */
export class NetworkCalls {
  inProgress = 0;

  /** The same connector. A stream is in progress until its first home. `renewing`: a renewal is sent. */
  counted(real: Connector, renewing: () => void): Connector & Required<Pick<Connector, "renew">> {
    return {
      ...real,
      read: (token, signal) => this.#during(real.read(token, signal)),
      renew: (credential, signal) => {
        renewing();
        return this.#during(real.renew!(credential, signal));
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
