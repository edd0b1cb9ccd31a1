import { type HomeAssistant, startHomeAssistant } from "../../simulator/home-assistant/simulator.ts";
import type { Connector } from "../../src/ecosystems/connector.ts";
import type { Credential } from "../../src/ecosystems/credential.ts";
import { homeAssistantConnector } from "../../src/ecosystems/home-assistant/connector.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { RenewedEcosystem } from "./made-renewal.ts";

const clientId = "https://breezeway.example/";

/** A simulated Home Assistant whose access tokens expire by the test's clock, and its real connector over loopback. */
export class RenewedInstance implements RenewedEcosystem {
  readonly simulator: HomeAssistant;
  readonly #runtime: Runtime;
  /** When each renewal was sent. */
  readonly renewalsMs: number[] = [];
  inProgress = 0;

  private constructor(simulator: HomeAssistant, runtime: Runtime) {
    this.simulator = simulator;
    this.#runtime = runtime;
  }

  static async start(runtime: Runtime, lifetimeMs: number): Promise<RenewedInstance> {
    const simulator = await startHomeAssistant({ tokens: { nowMs: runtime.nowMs, lifetimeMs } });
    return new RenewedInstance(simulator, runtime);
  }

  consent(): Credential {
    const { tokens, url } = this.simulator;
    const issued = tokens.redeem(tokens.addCode(clientId), clientId)!;
    return { ...issued, clientId, address: url, expiresMs: this.#runtime.nowMs() + tokens.lifetimeMs };
  }

  connector(): Connector & Required<Pick<Connector, "renew">> {
    const { nowMs } = this.#runtime;
    const real = homeAssistantConnector({ name: "hearth", allowPrivateNetworks: true, nowMs });
    return {
      ...real,
      read: (token, signal) => this.#during(real.read(token, signal)),
      renew: (credential, signal) => {
        this.renewalsMs.push(this.#runtime.elapsedMs());
        return this.#during(real.renew!(credential, signal));
      },
      follow: async (token, listener, signal) => {
        const begun = Promise.withResolvers<void>();
        void this.#during(begun.promise);
        const following = real.follow(
          token,
          {
            ...listener,
            home: (home) => {
              listener.home(home);
              begun.resolve();
            },
          },
          signal,
        );
        return following.finally(begun.resolve);
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
