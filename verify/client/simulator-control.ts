import { Failure } from "../outcome.ts";
import type { Json } from "./deployment.ts";

const timeoutMs = 10_000;

/** Client of the simulator's control interface. */
export class SimulatorControl {
  readonly url: string;

  constructor(url: string) {
    this.url = url.replace(/\/+$/, "");
  }

  async isThere(): Promise<boolean> {
    const state = await this.#call("GET", "").catch(() => undefined);
    return state?.status === "ok";
  }

  /** Adds an account with a home for this verification only. */
  async addAccount(): Promise<{ readonly id: string; readonly token: string }> {
    const structures = [{ name: "Verify House", thermostats: 2, alarms: 1 }];
    const { accountId: id, token } = await this.#call("POST", "accounts", { seed: "verify", structures });
    return { id, token };
  }

  removeAccount(id: string): Promise<Json> {
    return this.#call("DELETE", `accounts/${id}`);
  }

  document(id: string): Promise<Json> {
    return this.#call("GET", `accounts/${id}/document`);
  }

  play(id: string, scene: object): Promise<Json> {
    return this.#call("POST", `accounts/${id}/scene`, scene);
  }

  drop(id: string): Promise<Json> {
    return this.#call("POST", `accounts/${id}/drop`);
  }

  /** Injects a fault into one account. Returns the function that ends it; it also ends after two minutes. */
  async addFault(id: string, fault: object): Promise<() => Promise<unknown>> {
    const { id: faultId } = await this.#call("POST", "faults", { accountId: id, forMs: 120_000, ...fault });
    return () => this.#call("DELETE", `faults/${faultId}`);
  }

  async #call(method: string, path: string, body?: object): Promise<Json> {
    const content = body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const signal = AbortSignal.timeout(timeoutMs);
    const callName = `${method} ${this.url}/simulator/${path.split("/")[0]}`;
    let answer: Response;
    try {
      answer = await fetch(`${this.url}/simulator/${path}`, { method, signal, redirect: "error", ...content });
    } catch {
      throw simulatorFailure(`${callName} was not answered.`);
    }
    const text = await answer.text();
    if (!answer.ok) throw simulatorFailure(`${callName} was answered with ${answer.status}.`);
    return text === "" ? {} : JSON.parse(text);
  }
}

function simulatorFailure(seen: string): Failure {
  return new Failure({
    seen,
    side: "ecosystem",
    next: "Check that the simulator still runs and has the version of this command; then start verify again.",
  });
}
