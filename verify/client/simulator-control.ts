import { Failure } from "../outcome.ts";
import type { Json } from "./deployment.ts";

const patienceMs = 10_000;

/** The simulated ecosystem's control interface: makes things happen upstream. */
export class SimulatorControl {
  readonly url: string;

  constructor(url: string) {
    this.url = url.replace(/\/+$/, "");
  }

  async isThere(): Promise<boolean> {
    const state = await this.#call("GET", "").catch(() => undefined);
    return state?.status === "ok";
  }

  /** A home of its own, so that nobody else's is touched. */
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

  /** Breaks something for one account until what it answers is called, or two minutes later by itself. */
  async break(id: string, fault: object): Promise<() => Promise<unknown>> {
    const { id: faultId } = await this.#call("POST", "faults", { accountId: id, forMs: 120_000, ...fault });
    return () => this.#call("DELETE", `faults/${faultId}`);
  }

  async #call(method: string, path: string, body?: object): Promise<Json> {
    const content = body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const signal = AbortSignal.timeout(patienceMs);
    const told = `${method} ${this.url}/simulator/${path.split("/")[0]}`;
    let answer: Response;
    try {
      answer = await fetch(`${this.url}/simulator/${path}`, { method, signal, redirect: "error", ...content });
    } catch {
      throw simulatorTrouble(`${told} was not answered.`);
    }
    const text = await answer.text();
    if (!answer.ok) throw simulatorTrouble(`${told} was answered with ${answer.status}.`);
    return text === "" ? {} : JSON.parse(text);
  }
}

function simulatorTrouble(seen: string): Failure {
  return new Failure({
    seen,
    side: "ecosystem",
    next: "Look whether the simulator still runs and has the version of this command; then start verify again.",
  });
}
