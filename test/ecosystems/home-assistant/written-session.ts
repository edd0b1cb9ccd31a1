import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type WebSocket from "ws";
import { Session } from "../../../src/ecosystems/home-assistant/session.ts";
import type { LimitName } from "../../../src/model/limits.ts";
import { project } from "../../../src/runtime/json/projection.ts";
import { largeBounds, parseUntrusted } from "../../../src/runtime/json/untrusted-json.ts";
import { manualRuntime } from "../../federation/manual-runtime.ts";
import { immediateTurns } from "../immediate-turns.ts";

/** A session over a socket that the test writes to. */
export async function writtenSession() {
  const socket = new WrittenSocket();
  const runtime = manualRuntime();
  const reached: LimitName[] = [];
  const opening = Session.open(
    { url: new URL("http://home.example"), token: "token", consentKey: "key" },
    {
      openSocket: async () => socket as unknown as WebSocket,
      timers: runtime,
      turns: immediateTurns,
      readLarge: async (_, content, projection) => project(parseUntrusted(String(content), largeBounds), projection),
      onLimitReached: (limit) => reached.push(limit),
      watchdogMs: 70_000,
      pingMs: 30_000,
    },
    new AbortController().signal,
  );
  await Promise.resolve();
  socket.emit("message", JSON.stringify({ type: "auth_ok" }), false);
  const session = await opening;
  assert.ok(session instanceof Session);
  return { session, socket, runtime, reached };
}

class WrittenSocket extends EventEmitter {
  isPaused = true;
  /** The messages that the session has sent. */
  readonly sent: Record<string, unknown>[] = [];
  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  terminate(): void {}
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
}
