import { startReceiver } from "../client/receiver.ts";
import { Failure } from "../outcome.ts";
import { wait } from "../row-context.ts";
import type { Visitor } from "./visitor.ts";

const patienceMs = 5 * 60_000;

/** Lets a person sign in with their own browser; the redirect address is served here meanwhile. */
export function byHandVisitor(redirectUri: string, say: (words: string) => void, signal: AbortSignal): Visitor {
  return {
    async authorize(address) {
      const { port, pathname } = new URL(redirectUri);
      const receiver = await startReceiver(Number(port || 80), "Thank you. You can close this page; verify goes on.\n");
      try {
        say(`Open this address in a browser and sign in:\n\n  ${address}\n`);
        const untilMs = performance.now() + patienceMs;
        for (;;) {
          const returned = receiver.received.find(({ path }) => path.split("?")[0] === pathname);
          if (returned) return new URL(returned.path, redirectUri);
          if (performance.now() > untilMs) throw new Failure(nobodyCame);
          await wait(100, signal);
        }
      } finally {
        await receiver.stop();
      }
    },
  };
}

/** The address that can be served here: this machine's own, over plain http. */
export function canBeServed(redirectUri: string): boolean {
  if (!URL.canParse(redirectUri)) return false;
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === "http:" && ["127.0.0.1", "localhost"].includes(hostname);
}

const nobodyCame = {
  seen: "Nobody came back from the login page within five minutes.",
  side: "client",
  next: "Start again and open the printed address; the redirect address must lead to this machine.",
} as const;
