import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "./connection.ts";

/** The interval of requests (open loop: a request does not wait for earlier answers). */
const everyMs = 20;

/** Refreshes tokens at a steady rate, as assistants do for many users. */
export class RefreshLoad implements Disposable {
  readonly #url: string;
  readonly #request: (refreshToken: string) => string;
  /** Refresh tokens that are not in use; the least recently used comes first. */
  readonly #tokens: string[];
  readonly #idle: Connection[] = [];

  constructor(url: string, request: (refreshToken: string) => string, refreshTokens: readonly string[]) {
    this.#url = url;
    this.#request = request;
    this.#tokens = [...refreshTokens];
  }

  /** Sends refreshes until the promise settles, and returns the duration of each in milliseconds. */
  async during(time: Promise<unknown>): Promise<readonly number[]> {
    let isOver = false;
    const end = time.finally(() => {
      isOver = true;
    });
    const running: Promise<number>[] = [];
    while (!isOver) {
      running.push(this.#refresh());
      await sleep(everyMs);
    }
    await end;
    return Promise.all(running);
  }

  async #refresh(): Promise<number> {
    const idle = this.#idle.pop();
    const connection = idle?.isOpen ? idle : await Connection.to(this.#url);
    const request = this.#request(this.#tokens.shift()!);
    const startedMs = performance.now();
    const { status, body } = await connection.send(request);
    const tookMs = performance.now() - startedMs;
    if (status !== 200) throw new Error(`a refresh was answered ${status}, not 200`);
    this.#tokens.push(JSON.parse(body.toString()).refresh_token);
    this.#idle.push(connection);
    return tookMs;
  }

  [Symbol.dispose](): void {
    for (const connection of this.#idle) connection[Symbol.dispose]();
  }
}
