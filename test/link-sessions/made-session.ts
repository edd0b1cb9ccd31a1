import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { ConsentAnswer, ConsentOutcome } from "../../src/ecosystems/consent.ts";
import type { Credential } from "../../src/ecosystems/credential.ts";
import type { Home } from "../../src/home/home.ts";
import { type LinkingParts, linkingWith } from "../../src/link-sessions/linking.ts";
import { newSessionSecrets, sealSecrets } from "../../src/link-sessions/session-secrets.ts";
import { problemOf } from "../../src/link-sessions/session-status.ts";
import { AnotherAccount } from "../../src/model/errors.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { OutgoingCalls } from "../../src/runtime/network/outgoing-calls.ts";
import type { LinkSessionRow } from "../../src/store/tables/link-sessions.ts";
import { manualRuntime } from "../federation/manual-runtime.ts";
import { madeAlice } from "../identity/made-identity.ts";

export const sealer = {
  seal: (text: string, context: string) => `${context}: ${text}`,
  open: (sealed: string, context: string) => {
    assert.ok(sealed.startsWith(`${context}: `), "opened for another session");
    return sealed.slice(context.length + 2);
  },
};
export const credential = { accessToken: "token", refreshToken: "next", expiresMs: 5 } as never;
const noThings = { isWhole: true, byId: new Map() };
const home = {
  structures: { isWhole: true, byId: new Map([["s", { isRead: true, object: { name: "Maple" } }]]) },
  thermostats: noThings,
  alarms: noThings,
} as unknown as Home;
export const summary = [{ name: "Maple", thermostats: 0, alarms: 0, others: 0 }];
export const source = "192.0.2.1";
export const device = 11 as DeviceId;

/** A session of alice on a store, that a node has claimed, with an ecosystem and a federation that do as they are told. */
export async function madeSession(t: TestContext, fields: Partial<LinkSessionRow> = {}) {
  const { store, clock, tenantId, userId, identity } = await madeAlice(t);
  const secrets = { ...newSessionSecrets(), address: "typed", canonicalAddress: "canonical" };
  const session: LinkSessionRow = {
    ...{ ownerId: userId, id: "ls_1", tenantId, clientId: "bwc_1", userId, ecosystem: "nest", mode: "link" },
    ...{ returnUrl: null, clientState: null, tokenHash: "t", stateHash: "s", browserHash: "b", isSignedIn: true },
    ...{ attempt: 1, phase: "exchanging", claimedMs: clock.nowMs, problem: "{}", deviceId: null, summary: null },
    ...{ createdMs: clock.nowMs, expiresMs: clock.nowMs + 1_000, sealed: sealSecrets(sealer, "ls_1", secrets) },
    ...fields,
  };
  await store.transaction((tx) => tx.linkSessions.add(session));
  const does = {
    exchange: async (_: ConsentAnswer): Promise<ConsentOutcome> => ({ state: "granted", credential }),
    link: async (): Promise<void> => undefined,
    revoke: async (_: Credential): Promise<void> => undefined,
  };
  const calls: unknown[] = [];
  const told = { appended: 0, revoked: [] as unknown[] };
  const connector = {
    consent: {
      exchange(answer: ConsentAnswer) {
        calls.push(answer);
        return does.exchange(answer);
      },
    },
    async revoke(access: string, _: AbortSignal, whole: Credential) {
      told.revoked.push(access, whole);
      await does.revoke(whole);
    },
  };
  const act =
    (name: string) =>
    async (...[user, ecosystem, given, , options]: Parameters<LinkingParts["federation"]["link"]>) => {
      calls.push([name, user, ecosystem, given]);
      try {
        await does.link();
      } catch (error) {
        if (error instanceof AnotherAccount && !options?.onAnotherAccount) throw new Error("may be another");
        options?.onAnotherAccount?.(home);
        throw error;
      }
      await store.transaction((tx) => options!.also!(tx, device, home));
      return device;
    };
  const runtime = manualRuntime();
  const parts = {
    ...{ store, sealer, runtime, report: runtime.report, redirectUri: () => "https://here/callback" },
    connectors: new Map([["nest", connector as never]]),
    federation: { link: act("link"), relink: act("relink") },
    outgoing: new OutgoingCalls({ timers: runtime }),
    appended: () => void told.appended++,
  };
  const linking = linkingWith(parts);
  const stored = async () => (await store.read((tx) => tx.linkSessions.find(session)))!;
  const exchange = (signal = new AbortController().signal) =>
    linking.exchange({ session, source }, { code: "code", attempt: 0 }, signal);
  const codeOf = async () => problemOf(await stored())?.code;
  return {
    store,
    clock,
    userId,
    identity,
    session,
    secrets,
    does,
    calls,
    told,
    runtime,
    linking,
    stored,
    exchange,
    codeOf,
    parts,
  };
}
