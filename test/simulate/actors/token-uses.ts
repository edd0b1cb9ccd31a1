import type { TokenUse } from "../checks/history.ts";
import { userOf } from "./tokens.ts";

/** A node that calls the ecosystem. */
export interface TokenUser {
  readonly name: string;
  /** The work of the node for the user's link, which knows that a token was refused. */
  followerOf(userId: number): object | undefined;
}

/** Records with which tokens nodes call the ecosystem, and which of them it refused. */
export class TokenUses {
  readonly all: TokenUse[] = [];
  readonly #committedSoFar: () => number;
  readonly #followers = new Map<object, number>();
  readonly #nowMs: () => number;

  constructor(committedSoFar: () => number, nowMs: () => number) {
    this.#committedSoFar = committedSoFar;
    this.#nowMs = nowMs;
  }

  /** Call the returned function when the node learns that the token was refused. */
  begin(node: TokenUser, token: string, kind: TokenUse["kind"]): () => void {
    const follower = node.followerOf(userOf(token));
    const use: TokenUse = {
      node: node.name,
      follower: follower && this.#numberOf(follower),
      token,
      kind,
      seq: this.#committedSoFar(),
      atMs: this.#nowMs(),
      refusedMs: undefined,
      refusedSeq: undefined,
    };
    this.all.push(use);
    return () => {
      use.refusedMs ??= this.#nowMs();
      use.refusedSeq ??= this.#committedSoFar();
    };
  }

  #numberOf(follower: object): number {
    const number = this.#followers.get(follower) ?? this.#followers.size;
    this.#followers.set(follower, number);
    return number;
  }
}
