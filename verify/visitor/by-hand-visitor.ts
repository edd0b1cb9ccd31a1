import { startReceiver } from "../client/receiver.ts";
import { Failure } from "../outcome.ts";
import { wait } from "../row-context.ts";
import type { Visitor } from "./visitor.ts";

const timeoutMs = 5 * 60_000;

/**
 * Lets a person sign in with a browser, and serves the redirect address until the browser returns. The person decides:
 * `decision` is ignored. Rows that decline need a password and never use this visitor.
 */
export function byHandVisitor(redirectUri: string, say: (text: string) => void, signal: AbortSignal): Visitor {
  return {
    async authorize(address) {
      const { port, pathname } = new URL(redirectUri);
      const receiver = await startReceiver(Number(port || 80), "Thank you. You can close this page; verify goes on.\n");
      try {
        say(`Open this address in a browser and sign in:\n\n  ${address}\n`);
        const untilMs = performance.now() + timeoutMs;
        for (;;) {
          const returned = receiver.received.find(({ path }) => path.split("?")[0] === pathname);
          if (returned) return new URL(returned.path, redirectUri);
          if (performance.now() > untilMs) throw new Failure(noReturn);
          await wait(100, signal);
        }
      } finally {
        await receiver.stop();
      }
    },
  };
}

/** Whether verify can serve this redirect address: http on 127.0.0.1 or localhost. */
export function canBeServed(redirectUri: string): boolean {
  if (!URL.canParse(redirectUri)) return false;
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === "http:" && ["127.0.0.1", "localhost"].includes(hostname);
}

const noReturn = {
  seen: "No browser returned from the login page within five minutes.",
  side: "client",
  next: "Start again and open the printed address; the redirect address must lead to this machine.",
} as const;
