import { type HomeAssistant, startHomeAssistant } from "../../simulator/home-assistant/simulator.ts";
import type { Connector } from "../../src/ecosystems/connector.ts";
import type { Credential } from "../../src/ecosystems/credential.ts";
import { homeAssistantConnector } from "../../src/ecosystems/home-assistant/connector.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { NetworkCalls } from "./network-calls.ts";
import type { RenewedAccounts } from "./renewed-accounts.ts";

const clientId = "https://breezeway.example/";

/** A simulated Home Assistant whose access tokens expire by the test's clock, and its real connector over loopback. */
export class RenewedInstance implements RenewedAccounts {
  readonly #simulator: HomeAssistant;
  readonly #runtime: Runtime;
  readonly #calls = new NetworkCalls();
  readonly renewalsMs: number[] = [];

  private constructor(simulator: HomeAssistant, runtime: Runtime) {
    this.#simulator = simulator;
    this.#runtime = runtime;
  }

  static async start(runtime: Runtime, lifetimeMs: number): Promise<RenewedInstance> {
    const simulator = await startHomeAssistant({ tokens: { nowMs: runtime.nowMs, lifetimeMs } });
    return new RenewedInstance(simulator, runtime);
  }

  get overlaps(): number {
    return this.#calls.overlaps;
  }

  get inProgress(): number {
    return this.#calls.inProgress;
  }

  /** An instance may ban the address of a client that presents wrong tokens. */
  get wrongTokens(): number {
    return this.#simulator.tokens.failures;
  }

  consent(): Credential {
    const { tokens, url } = this.#simulator;
    const issued = tokens.redeem(tokens.addCode(clientId), clientId)!;
    return { ...issued, clientId, address: url, expiresMs: this.#runtime.nowMs() + tokens.lifetimeMs };
  }

  connector(): Connector & Required<Pick<Connector, "renew">> {
    const { nowMs } = this.#runtime;
    const real = homeAssistantConnector({ name: "hearth", allowPrivateNetworks: true, nowMs });
    return this.#calls.counted(real, () => {
      this.renewalsMs.push(this.#runtime.elapsedMs());
    });
  }

  stop(): Promise<void> {
    return this.#simulator.stop();
  }
}
