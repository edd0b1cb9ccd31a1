import type { ServerResponse } from "node:http";

/** Responses that are never sent: their connections stay open until the client closes them or the simulator stops. */
export class HeldAnswers {
  readonly #held = new Set<ServerResponse>();

  get count(): number {
    return this.#held.size;
  }

  hold(response: ServerResponse): void {
    if (response.destroyed) return;
    this.#held.add(response);
    response.on("close", () => this.#held.delete(response));
  }

  stop(): void {
    for (const response of this.#held) response.destroy();
  }
}
