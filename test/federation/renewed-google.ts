import { type Google, startGoogle } from "../../simulator/google-device-access/simulator.ts";
import type { Connector } from "../../src/ecosystems/connector.ts";
import type { Credential } from "../../src/ecosystems/credential.ts";
import type { Feed } from "../../src/ecosystems/feed.ts";
import { readConfiguration } from "../../src/ecosystems/google-device-access/configuration.ts";
import { googleConnector } from "../../src/ecosystems/google-device-access/connector.ts";
import { pause, type Runtime } from "../../src/runtime/runtime.ts";
import { generous } from "../ecosystems/google-device-access/harness.ts";
import { NetworkCalls } from "./network-calls.ts";
import type { RenewedAccounts } from "./renewed-accounts.ts";

/** A simulated Google whose access tokens expire by the test's clock, and its real connector over loopback. */
export class RenewedGoogle implements RenewedAccounts {
  readonly #google: Google;
  readonly #runtime: Runtime;
  readonly #calls = new NetworkCalls();
  readonly renewalsMs: number[] = [];

  private constructor(google: Google, runtime: Runtime) {
    this.#google = google;
    this.#runtime = runtime;
  }

  static async start(runtime: Runtime, lifetimeMs: number): Promise<RenewedGoogle> {
    const google = await startGoogle({ nowMs: runtime.nowMs });
    google.tokens.lifetimeSeconds = lifetimeMs / 1_000;
    return new RenewedGoogle(google, runtime);
  }

  get overlaps(): number {
    return this.#calls.overlaps;
  }

  get inProgress(): number {
    return this.#calls.inProgress;
  }

  get wrongTokens(): number {
    return this.#google.tokens.refused;
  }

  consent(name: string): Credential {
    const { tokens } = this.#google;
    const issued = tokens.consent(this.#google.addAccount(name));
    return { ...issued, expiresMs: this.#runtime.nowMs() + tokens.lifetimeSeconds * 1_000 };
  }

  connector(): Connector & Required<Pick<Connector, "renew">> {
    const configuration = readConfiguration("hearth", this.#google.settings("no file: the feed is not pulled"));
    // Lists must not wait for time to pass, which waits for them.
    const real = googleConnector({ configuration, runtime: this.#runtime, limits: generous });
    return this.#calls.counted({ ...real, feed: this.#quietFeed() }, () => {
      this.renewalsMs.push(this.#runtime.elapsedMs());
    });
  }

  stop(): Promise<void> {
    return this.#google.stop();
  }

  /** Answers all the time and has no messages. A pull over the network would be open while time passes. */
  #quietFeed(): Feed {
    const runtime = this.#runtime;
    return {
      async pull(receiver, signal) {
        while (!signal.aborted) {
          receiver.answered();
          await pause(runtime, 30_000, signal);
        }
      },
    };
  }
}
