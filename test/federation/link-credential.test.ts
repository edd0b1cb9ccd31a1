import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Credential, RenewalOutcome } from "../../src/ecosystems/credential.ts";
import { ConnectionRateLimiter } from "../../src/federation/admission.ts";
import { openCredential, sealCredential } from "../../src/federation/credential.ts";
import { LinkCredential, type LinkCredentialParts } from "../../src/federation/link-credential.ts";
import { storeRenewed } from "../../src/federation/stored-renewal.ts";
import { StoreUnavailable } from "../../src/model/errors.ts";
import { adasLink, linkRow } from "./made-links.ts";
import { manualRuntime, noonMs } from "./manual-runtime.ts";

const sealing = { seal: (text: string) => text, open: (sealed: string) => sealed };
const unanswered: RenewalOutcome = { state: "unanswered", detail: "no answer" };

/** The credential of Ada's link, which lives for a minute, on a store that the test controls. */
function madeCredential(renew?: () => Promise<RenewalOutcome>) {
  const runtime = manualRuntime();
  const first: Credential = {
    accessToken: "access 1",
    refreshToken: "refresh 1",
    issuedMs: noonMs,
    expiresMs: noonMs + 60_000,
  };
  const row = { ...linkRow(sealCredential(sealing.seal, adasLink, first)) };
  const trouble: { isLost: boolean; all?: Error; clearing?: Error; duringCall?: () => void } = { isLost: false };
  const [begunMs, renewedMs]: [number[], number[]] = [[], []];
  const takeOvers: string[] = [];
  const tx = {
    users: { lock: async () => runtime.nowMs() },
    links: {
      holds: async () => !trouble.isLost,
      ofDevice: async () => row,
      setRenewing: async (_user: number, _device: number, markMs: number | null) => {
        if (markMs === null && trouble.clearing) throw trouble.clearing;
        row.renewingMs = markMs;
      },
      setToken: async (_user: number, _device: number, sealedToken: string, sealedCredential: string | null) => {
        Object.assign(row, { sealedToken, sealedCredential, renewingMs: null });
      },
      takeOver: async (_user: number, _device: number, owner: string) => void takeOvers.push(owner),
    },
  };
  const store = {
    isShared: true,
    async transaction(body: (given: typeof tx) => unknown) {
      begunMs.push(runtime.elapsedMs());
      if (trouble.all) throw trouble.all;
      return body(tx);
    },
  };
  const told = { refused: [] as string[], faulted: [] as string[], failed: [] as unknown[] };
  const next = async (): Promise<RenewalOutcome> => {
    const number = 1 + renewedMs.length;
    const times = { issuedMs: runtime.nowMs(), expiresMs: runtime.nowMs() + 60_000 };
    const credential = { accessToken: `access ${number}`, refreshToken: `refresh ${number}`, ...times };
    return { state: "renewed", credential };
  };
  const connector = {
    renew: () => {
      renewedMs.push(runtime.elapsedMs());
      trouble.duringCall?.();
      return (renew ?? next)();
    },
  };
  const parts = {
    store,
    sealing,
    connector,
    link: adasLink,
    admission: new ConnectionRateLimiter(runtime),
    runtime,
    refused: (reason: string) => void told.refused.push(reason),
    faulted: (reason: string) => void told.faulted.push(reason),
    failed: (error: unknown) => void told.failed.push(error),
  } as unknown as LinkCredentialParts;
  const credential = new LinkCredential(parts, openCredential(sealing.open, row));
  return { credential, parts, first, row, runtime, trouble, begunMs, renewedMs, takeOvers, ...told };
}

describe("the renewal of a link's credential", () => {
  it("ends when another node owns the link: it calls nobody and does not try again", async () => {
    const { credential, runtime, trouble, begunMs, renewedMs } = madeCredential();
    trouble.isLost = true;
    credential.start();
    await runtime.advance(50_000);
    assert.deepEqual([begunMs, renewedMs, runtime.timers], [[48_000], [], 0]);
  });

  it("ends when another node owns the link since its call, and the link has another token", async () => {
    const made = madeCredential();
    const { credential, runtime, row, renewedMs, begunMs } = made;
    credential.start();
    made.trouble.duringCall = () => {
      Object.assign(row, sealCredential(sealing.seal, adasLink, "another token"), { renewingMs: null });
    };
    await runtime.advance(120_000);
    assert.deepEqual([renewedMs, begunMs.length, credential.token, runtime.timers], [[48_000], 2, "access 1", 0]);
    assert.equal(row.sealedToken, "another token");
  });

  it("is tried with growing pauses while the store can't be reached, which the status says", async () => {
    const { credential, runtime, trouble, begunMs, renewedMs, faulted, failed } = madeCredential();
    trouble.all = new StoreUnavailable("The store can't be reached.");
    credential.start();
    await runtime.advance(60_000);
    assert.deepEqual([begunMs, renewedMs], [[48_000, 50_000, 54_000], []]);
    const reason = "its token can't be renewed: the store is not available or refused to record it";
    assert.deepEqual([faulted, failed], [[reason, reason, reason], []]);
    delete trouble.all;
    await runtime.advance(2_000);
    assert.deepEqual([renewedMs, faulted.at(-1), credential.token], [[62_000], "", "access 2"]);
    await credential.stop();
  });

  it("that was refused reports an error of the store in clearing its mark, and stays refused", async () => {
    const { credential, runtime, trouble, refused, failed, renewedMs } = madeCredential(async () => ({
      state: "refused",
      reason: "the consent was withdrawn",
    }));
    const defect = new Error("a defect");
    trouble.clearing = defect;
    credential.start();
    await runtime.advance(600_000);
    assert.deepEqual([refused, failed, renewedMs], [["the consent was withdrawn"], [defect], [48_000]]);
  });

  it("that is not answered is logged at the first, second, fourth and eighth failure", async () => {
    const { credential, runtime, renewedMs } = madeCredential(async () => unanswered);
    credential.start();
    while (renewedMs.length < 9) await runtime.advance(1_000);
    const warnings = runtime.logLines.filter(({ level }) => level === "warn");
    assert.deepEqual(
      warnings.map(({ fields }) => (fields as { failures: number }).failures),
      [1, 2, 4, 8],
    );
    await credential.stop();
  });

  it("comes ten seconds after the one before at the earliest, however soon the token is refused", async () => {
    const { credential, runtime, renewedMs } = madeCredential();
    const { signal } = new AbortController();
    for (const token of ["access 1", "access 2"]) {
      credential.accepted(token);
      credential.refused(token, "stream");
      void credential.replace(token, signal);
      await runtime.advance(1_000);
    }
    await runtime.advance(7_999);
    assert.deepEqual(renewedMs, [0]);
    await runtime.advance(1);
    assert.deepEqual([renewedMs, credential.token], [[0, 10_000], "access 3"]);
    await credential.stop();
  });
});

describe("a renewed credential whose node has lost the link meanwhile", () => {
  it("waits while the next owner may be in a call with the same refresh token, and is stored afterwards", async () => {
    const { parts, first, row, runtime, takeOvers } = madeCredential();
    row.renewingMs = runtime.nowMs();
    const renewed = { ...first, accessToken: "access 2", refreshToken: "refresh 2" };
    const store = () => storeRenewed(parts, first, noonMs - 5_000, renewed);
    assert.equal(await store(), "busy");
    await runtime.advance(29_999);
    assert.equal(await store(), "busy");
    assert.equal(row.sealedToken, "access 1");
    await runtime.advance(1);
    assert.deepEqual(await store(), { ...renewed, issuedMs: runtime.nowMs() });
    assert.deepEqual([row.sealedToken, takeOvers], ["access 2", [adasLink.ownership.owner]]);
  });
});
