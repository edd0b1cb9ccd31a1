import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { QuotaExceeded } from "../../src/model/errors.ts";
import type { TenantId } from "../../src/model/ids.ts";
import { defaultQuotas, type QuotaValues } from "../../src/quotas/quota-kinds.ts";
import type { QuotaOwner } from "../../src/quotas/quota-settings.ts";
import { type QuotaCaller, Quotas } from "../../src/quotas/quotas.ts";

const acme = 1 as TenantId;
const other = 2 as TenantId;

/** Quotas with a clock that the test moves, and values that it may change. */
function made(ofClient: Partial<QuotaValues> = {}, ofTenant: Partial<QuotaValues> = {}) {
  const clock = { ms: 5_000 };
  const reached: string[] = [];
  const nodes = { live: 1 };
  const settings = {
    version: 0,
    ofClient,
    /** How often the values were read. */
    reads: 0,
    /** With the nodes by which the quotas were divided. */
    dividedBy: 0,
    valuesOf({ clientId }: QuotaOwner, liveNodes = 1): QuotaValues {
      settings.dividedBy = liveNodes;
      settings.reads += 1;
      return clientId === null
        ? { ...defaultQuotas("tenant"), ...ofTenant }
        : { ...defaultQuotas("client"), ...settings.ofClient };
    },
  };
  const quotas = new Quotas({
    settings,
    liveNodes: () => nodes.live,
    elapsedMs: () => clock.ms,
    onLimitReached: (limit) => reached.push(limit),
  });
  return { quotas, clock, reached, settings, nodes };
}

const voice: QuotaCaller = { tenantId: acme, clientId: "bwc_voice" };
const rules: QuotaCaller = { tenantId: acme, clientId: "bwc_rules" };

/** How many of these are admitted before the first refusal. */
function admitted(admit: () => void, atMost = 1_000): number {
  for (let count = 0; count < atMost; count++) {
    try {
      admit();
    } catch (error) {
      assert.ok(error instanceof QuotaExceeded, String(error));
      return count;
    }
  }
  return atMost;
}

function refusal(act: () => void): QuotaExceeded {
  try {
    act();
  } catch (error) {
    if (error instanceof QuotaExceeded) return error;
  }
  return assert.fail("it was not refused");
}

describe("a quota of requests", () => {
  for (const perMinute of [1, 7, 60, 333]) {
    it(`allows ${perMinute} at once, and the next when Retry-After has passed`, () => {
      const { quotas, clock } = made({ requestsPerMinute: perMinute });
      assert.equal(
        admitted(() => quotas.admitRequest(voice)),
        perMinute,
      );
      const { retryAfterSeconds } = refusal(() => quotas.admitRequest(voice));
      assert.equal(retryAfterSeconds, Math.ceil(60 / perMinute));
      clock.ms += retryAfterSeconds * 1_000 - 60_000 / perMinute - 1;
      if (retryAfterSeconds * 1_000 === 60_000 / perMinute) refusal(() => quotas.admitRequest(voice));
      clock.ms += 60_000 / perMinute + 1;
      quotas.admitRequest(voice);
    });
  }

  it("is whole again a minute after the last request", () => {
    const { quotas, clock } = made({ requestsPerMinute: 5 });
    assert.equal(
      admitted(() => quotas.admitRequest(voice)),
      5,
    );
    clock.ms += 60_000;
    assert.equal(
      admitted(() => quotas.admitRequest(voice)),
      5,
    );
    clock.ms += 12_000;
    assert.equal(
      admitted(() => quotas.admitRequest(voice)),
      1,
    );
  });

  it("of a client leaves other clients alone, and that of a tenant other tenants", () => {
    const { quotas, reached } = made({ requestsPerMinute: 3 }, { requestsPerMinute: 5 });
    assert.equal(
      admitted(() => quotas.admitRequest(voice)),
      3,
    );
    assert.equal(
      admitted(() => quotas.admitRequest(rules)),
      2,
      "a refused request uses nothing of the tenant's quota",
    );
    assert.equal(
      admitted(() => quotas.admitRequest({ tenantId: acme })),
      0,
    );
    assert.equal(
      admitted(() => quotas.admitRequest({ tenantId: other })),
      5,
    );
    assert.deepEqual(reached, [
      "requestsPerMinutePerClient",
      "requestsPerMinutePerTenant",
      "requestsPerMinutePerTenant",
      "requestsPerMinutePerTenant",
    ]);
  });

  it("counts requests that may carry an alarm, and never refuses them", () => {
    const { quotas } = made({ requestsPerMinute: 3 });
    for (let n = 0; n < 50; n++) quotas.admitRequest(voice, false);
    assert.equal(refusal(() => quotas.admitRequest(voice)).retryAfterSeconds, 20, "no more than the quota is counted");
  });

  it("does not count commands of an operator", () => {
    const { quotas } = made({ requestsPerMinute: 1, commandsPerMinute: 1, openStreams: 1 });
    const operator: QuotaCaller = { ...voice, isCommand: true };
    for (let n = 0; n < 5; n++) {
      quotas.admitRequest(operator);
      quotas.admitCommand(operator);
      quotas.openStream(operator)();
    }
    assert.deepEqual(quotas.useOf({ tenantId: acme, clientId: "bwc_voice" }), {
      requestsPerMinute: 0,
      openStreams: 0,
      commandsPerMinute: 0,
    });
  });

  it("changes at once when it is set", () => {
    const { quotas, settings } = made({ requestsPerMinute: 3 });
    assert.equal(
      admitted(() => quotas.admitRequest(voice)),
      3,
    );
    settings.ofClient = { requestsPerMinute: 10 };
    refusal(() => quotas.admitRequest(voice));
    settings.version += 1;
    quotas.admitRequest({ ...voice, clientId: "bwc_new" });
    settings.ofClient = { requestsPerMinute: 1 };
    settings.version += 1;
    refusal(() => quotas.admitRequest({ ...voice, clientId: "bwc_new" }));
  });

  it("says whose it is, how much it is, and nothing else", () => {
    const { quotas } = made({ requestsPerMinute: 1 });
    quotas.admitRequest(voice);
    assert.equal(
      refusal(() => quotas.admitRequest(voice)).message,
      "The client has used its quota of 1 requests a minute. Try again in 60 seconds.",
    );
  });
});

describe("the use of quotas", () => {
  it("shrinks as time passes, and is counted for clients and tenants", () => {
    const { quotas, clock } = made({ requestsPerMinute: 6, commandsPerMinute: 60 });
    for (let n = 0; n < 4; n++) quotas.admitRequest(voice);
    quotas.admitCommand(rules);
    const ofVoice = () => quotas.useOf({ tenantId: acme, clientId: "bwc_voice" }).requestsPerMinute;
    assert.equal(ofVoice(), 4);
    clock.ms += 10_000;
    assert.equal(ofVoice(), 3);
    clock.ms += 60_000;
    assert.equal(ofVoice(), 0);
    assert.deepEqual(quotas.useOf({ tenantId: other, clientId: null }), {
      requestsPerMinute: 0,
      openStreams: 0,
      commandsPerMinute: 0,
    });
  });

  it("is forgotten by and by when many owners use nothing, and never while an owner uses anything", () => {
    const { quotas, clock, settings } = made({ requestsPerMinute: 1, commandsPerMinute: 1, openStreams: 1 });
    const using = ["streams", "requests", "commands"].map((clientId) => ({ tenantId: acme, clientId }));
    const [streams, requests, commands] = using as [QuotaCaller, QuotaCaller, QuotaCaller];
    quotas.openStream(streams);
    for (let n = 1; n < 9_998; n++) quotas.admitRequest({ tenantId: other, clientId: `client ${n}` }, false);
    const many = Array.from({ length: 9_998 }, (_, n) => ({ tenantId: (n + 3) as TenantId }));
    for (const caller of many) quotas.admitRequest(caller, false);
    clock.ms += 59_999;
    for (const caller of using.slice(1)) {
      quotas.admitRequest(caller, false);
      quotas.admitCommand(caller);
    }
    clock.ms += 1;
    const readsBy = (caller: QuotaCaller) => {
      const before = settings.reads;
      quotas.admitRequest(caller, false);
      return settings.reads - before;
    };
    assert.equal(readsBy({ tenantId: other, clientId: "client 1" }), 0, "there are 10,000 clients, and all are known");
    assert.equal(readsBy(many[0]!), 0, "the same holds for tenants");
    assert.equal(readsBy({ tenantId: 99_999 as TenantId, clientId: "one more" }), 2);
    assert.equal(readsBy({ tenantId: other, clientId: "client 2" }), 1, "it was forgotten");
    assert.equal(readsBy(many[1]!), 1, "it was forgotten");
    refusal(() => quotas.openStream(streams));
    refusal(() => quotas.admitCommand(commands));
    refusal(() => quotas.admitRequest(requests));
  });

  it("is compared with values that are read once for each owner, until they change", () => {
    const { quotas, settings } = made();
    for (let n = 0; n < 3; n++) quotas.admitRequest(voice);
    assert.equal(settings.reads, 2, "the client's and the tenant's");
    settings.version += 1;
    for (let n = 0; n < 3; n++) quotas.admitRequest(voice);
    assert.equal(settings.reads, 4);
  });
});

describe("a quota of commands", () => {
  it("is counted by itself", () => {
    const { quotas } = made({ commandsPerMinute: 2 });
    for (let n = 0; n < 10; n++) quotas.admitRequest(voice);
    assert.equal(
      admitted(() => quotas.admitCommand(voice)),
      2,
    );
    assert.deepEqual(quotas.useOf({ tenantId: acme, clientId: null }), {
      requestsPerMinute: 10,
      openStreams: 0,
      commandsPerMinute: 2,
    });
  });
});

describe("a quota of open streams", () => {
  it("refuses a stream until another one has ended", () => {
    const { quotas, reached } = made({ openStreams: 2 }, { openStreams: 3 });
    const end = quotas.openStream(voice);
    quotas.openStream(voice);
    assert.match(refusal(() => quotas.openStream(voice)).message, /2 open streams.* when another one ended/);
    quotas.openStream(rules);
    refusal(() => quotas.openStream(rules));
    end();
    end();
    quotas.openStream(rules);
    refusal(() => quotas.openStream(voice));
    assert.deepEqual(reached, ["openStreamsPerClient", "openStreamsPerTenant", "openStreamsPerTenant"]);
    assert.equal(quotas.useOf({ tenantId: acme, clientId: null }).openStreams, 3);
  });

  it("counts a stream without a client for the tenant alone", () => {
    const { quotas } = made({ openStreams: 1 }, { openStreams: 2 });
    const end = quotas.openStream({ tenantId: acme });
    quotas.openStream({ tenantId: acme });
    refusal(() => quotas.openStream({ tenantId: acme }));
    end();
    quotas.openStream({ tenantId: acme });
  });
});

describe("a quota that nodes divide", () => {
  it("is read again when nodes join and leave", () => {
    const { quotas, nodes, settings } = made({ requestsPerMinute: 1 });
    quotas.admitRequest(voice);
    assert.match(
      refusal(() => quotas.admitRequest(voice)).message,
      /^The client has used its quota of 1 requests a minute\./,
    );
    nodes.live = 3;
    assert.match(refusal(() => quotas.admitRequest(voice)).message, /quota of 1 requests a minute on this node\./);
    assert.equal(settings.dividedBy, 3);
    const { reads } = settings;
    refusal(() => quotas.admitRequest(voice));
    assert.equal(settings.reads, reads);
    nodes.live = 2;
    refusal(() => quotas.admitRequest(voice));
    assert.equal(settings.dividedBy, 2);
  });
});
