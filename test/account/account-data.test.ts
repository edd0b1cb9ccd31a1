import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AccountParts, accountOn } from "../../src/account/account.ts";
import {
  Conflict,
  InvalidLogin,
  NotFederated,
  NotFound,
  OutcomeUnknown,
  StoreUnavailable,
  TooManyRequests,
  UnknownDevice,
} from "../../src/model/errors.ts";
import type { DeviceId, TenantId, UserId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";

const user = { userId: 7 as UserId, tenantId: 1 as TenantId, name: "ada", createdMs: 1_000 };
const createdTime = "1970-01-01T00:00:01.000Z";

type Any = Record<string, unknown>;

/** An account on fakes: the other parts answer from lists and record their calls. */
function made(change: Any = {}) {
  const audited: Any[] = [];
  const removals: unknown[] = [];
  const reached: string[] = [];
  const grants = [
    { clientId: "bwc_b", clientName: "B", covers: "user", scope: "devices:control", createdMs: 5, usedMs: null },
    { clientId: "bwc_a", clientName: "A", covers: "user", scope: "links", createdMs: 3_000, usedMs: 9 },
    { clientId: "bwc_a", clientName: "A", covers: "tenant", scope: "devices:read", createdMs: 2_000, usedMs: 20 },
    { clientId: "bwc_c", clientName: "C", covers: "user", scope: "links", createdMs: 5, usedMs: null },
    { clientId: "bwc_c", clientName: "C", covers: "user", scope: null, createdMs: 6, usedMs: null },
  ];
  const ofCompany = { clientId: "bwc_d", clientName: "D", covers: "tenant", scope: "devices:read" };
  const companyGrants = [{ ...ofCompany, createdMs: 7, usedMs: null }];
  const device = (id: number) => ({
    device: { id, name: `Lamp ${id}`, room: "Hall", typeName: "Lamp" },
    attributes: new Map([
      ["power", { value: "on", timeMs: 4 }],
      ["blank", { value: null, timeMs: 4 }],
    ]),
  });
  const alert = { deviceId: 1, condition: {}, action: "none", targets: [], commands: [], address: "a", message: "m" };
  const thing = { deviceId: 1, source: "nest", room: null, homeName: "Maple", maker: "M", model: "N", state: {} };
  const pages = {
    devices: [
      { devices: [{ id: 1 }, { id: 2 }], next: { afterId: 2 } },
      { devices: [{ id: 3 }], next: undefined },
    ],
    things: [
      {
        things: [{ ...thing, thingId: "t1", kind: "home", name: "Maple" }],
        next: { afterDevice: 1, afterThing: "t1" },
      },
      { things: [{ ...thing, thingId: "t2", kind: "home", name: null }], next: undefined },
    ],
    alerts: [
      {
        alerts: [
          { ...alert, id: 4, attributeName: "power", isEnabled: true, createdMs: 1_000, firedMs: null, firings: 0 },
        ],
        nextAfterId: 4,
      },
      {
        alerts: [
          {
            ...alert,
            id: 5,
            thingId: "t1",
            field: "f",
            isEnabled: false,
            createdMs: 1_000,
            firedMs: 1_000,
            firings: 2,
          },
        ],
        nextAfterId: undefined,
      },
    ],
  };
  const asked: unknown[] = [];
  const page = (all: readonly unknown[], isFirst: (place: Any) => boolean) => async (scope: unknown, place: Any) => {
    asked.push(scope);
    return isFirst(place) ? all[0] : all[1];
  };
  const links = [{ ecosystem: "nest", deviceId: 1, state: "live", reason: "", confirmedMs: 1_000, token: "secret" }];
  const stored = { hasUser: true, isBeingRemoved: false };
  const storedUsers = {
    byId: async () => (stored.hasUser ? { id: user.userId } : undefined),
    isBeingRemoved: async () => stored.isBeingRemoved,
  };
  const parts = {
    store: {
      isShared: false,
      read: (body: (tx: Any) => unknown) =>
        body({ grants: { appsOf: async () => grants, appsOfTenant: async () => companyGrants }, users: storedUsers }),
    },
    grantsEnded: () => undefined,
    identity: {
      audit: { record: async (entry: Any) => void audited.push(entry) },
      signIn: async (_: unknown, enter: (tx: Any, user: Any) => unknown) => enter({}, { id: user.userId }),
      async removeUser(userId: number, audit: { readonly begun: Any; readonly ended: (removed: Any) => Any }) {
        removals.push(userId);
        audited.push(audit.begun, audit.ended({ devices: [1, 2], grants: ["g"] }));
      },
    },
    federation: {
      shownLinksOf: async () => links,
      unlinkStored: async () => undefined,
      unlinkAll: async () => ["nest", "google", "home"],
    },
    linkSessions: { createForAccount: async (_: unknown, session: Any) => session },
    ecosystems: { nameOf: (name: string) => `account of ${name}`, hasConsent: (name: string) => name === "nest" },
    devices: {
      page: page(pages.devices, ({ afterId }) => afterId === 0),
      async state(_: unknown, id: DeviceId) {
        if (id === 2) throw new UnknownDevice();
        return device(id);
      },
    },
    things: { page: page(pages.things, ({ afterThing }) => afterThing === "") },
    alerts: { onThings: { pageOfBoth: page(pages.alerts, ({ afterId }) => afterId === 0) } },
    nowMs: () => 1_000,
    onLimitReached: (limit: string) => void reached.push(limit),
    ...change,
  };
  return {
    account: accountOn(parts as unknown as AccountParts),
    audited,
    reached,
    grants,
    asked,
    removals,
    links,
    parts,
    stored,
  };
}

async function textOf(slices: AsyncIterable<string>): Promise<string> {
  return (await Array.fromAsync(slices)).join("");
}

describe("the apps of an account", () => {
  it("are merged for each client: all scopes, the widest access, the earliest grant and the latest use", async () => {
    const { account } = made();
    const { apps, isComplete } = await account.apps(user);
    assert.equal(isComplete, true);
    assert.deepEqual(apps, [
      { clientId: "bwc_b", name: "B", covers: "user", scopes: ["devices:control"], sinceMs: 5, usedMs: null },
      {
        ...{ clientId: "bwc_a", name: "A", covers: "tenant" },
        scopes: ["devices:read", "links"],
        sinceMs: 2_000,
        usedMs: 20,
      },
      { clientId: "bwc_c", name: "C", covers: "user", scopes: null, sinceMs: 5, usedMs: null },
    ]);
  });

  it("are marked as incomplete at the limit, also in the export", async () => {
    const { account, grants } = made();
    while (grants.length < limits.appsPerAccount) grants.push(grants[0]!);
    assert.equal((await account.apps(user)).isComplete, false);
    const { appsComplete } = JSON.parse(await textOf(await account.exportOf(user, "Acme", "192.0.2.1")));
    assert.equal(appsComplete, false);
  });
});

describe("the homes of an account", () => {
  it("have the names of the homes on their own device, and leave out a home without a name", async () => {
    const { account, links } = made();
    links.push({ ecosystem: "home", deviceId: 9, state: "live", reason: "", confirmedMs: 1, token: "" });
    assert.deepEqual(
      (await account.homes(user)).map(({ ecosystem, accountName, names, isRenewable }) => {
        return [ecosystem, accountName, names, isRenewable];
      }),
      [
        ["nest", "account of nest", ["Maple"], true],
        ["home", "account of home", [], false],
      ],
    );
  });

  it("are read from three pages at most", async () => {
    let pages = 0;
    const home = { deviceId: 1, name: "Maple" };
    const next = { afterDevice: 1, afterThing: "t1" };
    const { account } = made({ things: { page: async () => ({ things: [{ ...home, pages: pages++ }], next }) } });
    assert.deepEqual((await account.homes(user))[0]!.names, ["Maple", "Maple", "Maple"]);
    assert.equal(pages, 3);
  });

  it("are renewed and unlinked only if they are linked; both acts are audited", async () => {
    const { account, audited, parts } = made();
    await assert.rejects(account.renew(user, "google", "192.0.2.1"), NotFederated);
    assert.equal(await account.unlink(user, "google", "192.0.2.1"), false);
    assert.deepEqual(audited, []);
    assert.deepEqual(await account.renew(user, "nest", "192.0.2.1"), { ecosystem: "nest", mode: "renew" });
    assert.equal(await account.unlink(user, "nest", "192.0.2.1"), true);
    const entry = { act: "account", tenantId: 1, userId: 7, source: "192.0.2.1" };
    const done = ["renew", "unlink"].map((did) => ({ ...entry, detail: { did, ecosystem: "nest" } }));
    assert.deepEqual(audited, done);
    parts.federation.unlinkStored = () => Promise.reject(new NotFederated("nest"));
    assert.equal(await account.unlink(user, "nest", "192.0.2.1"), false, "another request has unlinked it already");
    parts.federation.unlinkStored = () => Promise.reject(new Error("a defect"));
    await assert.rejects(account.unlink(user, "nest", "192.0.2.1"), /a defect/);
    assert.equal(audited.length, 2);
  });
});

describe("the export of an account", () => {
  it("holds all pages of devices, things and alerts, without a device that was removed meanwhile", async () => {
    const { account, audited, asked } = made();
    const text = await textOf(await account.exportOf(user, "Acme", "192.0.2.1"));
    assert.ok(text.endsWith("}\n"));
    assert.deepEqual(new Set(asked.map((scope) => JSON.stringify(scope))), new Set(['{"kind":"user","userId":7}']));
    const exported = JSON.parse(text);
    const attributes = { power: { value: "on", updateTime: 4 } };
    const lamp = { room: "Hall", deviceTypeName: "Lamp", attributes };
    const thing = {
      deviceId: 1,
      source: "nest",
      kind: "home",
      room: null,
      homeName: "Maple",
      maker: "M",
      model: "N",
      state: {},
    };
    const alert = {
      deviceId: 1,
      condition: {},
      action: "none",
      targets: [],
      commands: [],
      address: "a",
      message: "m",
      createdTime,
    };
    assert.deepEqual(exported, {
      exportedTime: createdTime,
      user: { userId: 7, userName: "ada", tenantName: "Acme", createdTime },
      links: [
        { ecosystem: "nest", deviceId: 1, homes: ["Maple"], state: "live", reason: "", confirmedTime: createdTime },
      ],
      apps: [
        { ...app("b"), scopes: ["devices:control"], sinceTime: timeOf(5), lastUsedTime: null },
        {
          ...app("a"),
          covers: "tenant",
          scopes: ["devices:read", "links"],
          sinceTime: timeOf(2_000),
          lastUsedTime: timeOf(20),
        },
        { ...app("c"), scopes: "all", sinceTime: timeOf(5), lastUsedTime: null },
      ],
      companyApps: [
        { ...app("d"), covers: "tenant", scopes: ["devices:read"], sinceTime: timeOf(7), lastUsedTime: null },
      ],
      devices: [
        { deviceId: 1, deviceName: "Lamp 1", ...lamp },
        { deviceId: 3, deviceName: "Lamp 3", ...lamp },
      ],
      things: [
        { ...thing, thingId: "t1", name: "Maple" },
        { ...thing, thingId: "t2", name: null },
      ],
      alerts: [
        { ...alert, alertId: 4, attributeName: "power", enabled: true, firedTime: null, firings: 0 },
        { ...alert, alertId: 5, thingId: "t1", field: "f", enabled: false, firedTime: createdTime, firings: 2 },
      ],
    });
    const entry = { act: "account", tenantId: 1, userId: 7, source: "192.0.2.1", detail: { did: "export" } };
    assert.deepEqual(audited, [entry]);
  });

  it("fails with the store's error, and then no longer counts as running", async () => {
    const devices = { page: async () => ({ devices: [{ id: 1 }] }), state: () => Promise.reject(new Error("down")) };
    const { account } = made({ devices });
    for (const _ of [1, 2]) await assert.rejects(textOf(await account.exportOf(user, "Acme", "")), /down/);
  });

  it("runs once at a time for each user; the next may start after the browser has broken one off", async () => {
    const clock = { nowMs: 1_000 };
    const { account, reached, audited } = made({ nowMs: () => clock.nowMs });
    const open = async (who = user) => (await account.exportOf(who, "Acme", ""))[Symbol.asyncIterator]();
    const [first, doubleClick] = await Promise.allSettled([open(), open()]);
    assert.ok(first.status === "fulfilled" && doubleClick.status === "rejected");
    assert.ok(doubleClick.reason instanceof TooManyRequests);
    await first.value.next();
    const other = await open({ ...user, userId: 8 as UserId });
    await other.next();
    await assert.rejects(open(), TooManyRequests);
    assert.deepEqual(reached, ["exportsAtOnce", "exportsAtOnce"]);
    assert.equal(audited.length, 2, "exports that were refused are not audited");
    await first.value.return?.();
    const neverRead = await open();
    await assert.rejects(open(), TooManyRequests);
    clock.nowMs += 10_000;
    await (await open()).next();
    await assert.rejects(neverRead.next(), TooManyRequests);
  });

  it("that could not be audited does not count as running", async () => {
    const audit = { record: () => Promise.reject(new Error("down")) };
    const { account } = made({ identity: { audit } });
    for (const _ of [1, 2]) await assert.rejects(account.exportOf(user, "Acme", ""), /down/);
  });
});

describe("the end of an account", () => {
  const attempt = { password: "correct horse", source: "192.0.2.1" };

  it("is audited with what was removed", async () => {
    const { account, audited, removals } = made();
    await account.deleteAccount(user, attempt);
    assert.deepEqual(removals, [7]);
    const entry = { act: "account", tenantId: 1, userId: 7, source: "192.0.2.1" };
    const did = "delete account";
    assert.deepEqual(audited, [
      { ...entry, detail: { did, links: 3, unfinished: true } },
      { ...entry, detail: { did, links: 3, devices: 2, grants: 1 } },
    ]);
  });

  it("needs the password of this user, not that of another user who has the name now", async () => {
    const { account, parts, removals } = made();
    parts.identity.signIn = async (_, enter) => enter({}, { id: 8 });
    await assert.rejects(account.deleteAccount(user, attempt), InvalidLogin);
    assert.deepEqual(removals, []);
  });

  it("was another request's when that was faster: then the password is not called wrong", async () => {
    const { account, parts, stored, removals } = made();
    parts.identity.signIn = async () => {
      throw new InvalidLogin();
    };
    await assert.rejects(account.deleteAccount(user, attempt), InvalidLogin);
    stored.isBeingRemoved = true;
    assert.equal(await account.deleteAccount(user, attempt), "underway");
    stored.hasUser = false;
    assert.equal(await account.deleteAccount(user, attempt), "deleted");
    parts.identity.signIn = async (_, enter) => enter({}, { id: 8 });
    assert.equal(await account.deleteAccount(user, attempt), "deleted", "another user has the name now");
    assert.deepEqual(removals, []);
  });

  it("that ends half-way is audited as unfinished, with the homes that it unlinked", async () => {
    const { account, parts, audited, links } = made();
    const down = () => Promise.reject(new StoreUnavailable("It is down."));
    const unfinished = (count: number) => ({ did: "delete account", links: count, unfinished: true });
    const { unlinkAll } = parts.federation;
    parts.identity.removeUser = down;
    await assert.rejects(account.deleteAccount(user, attempt), OutcomeUnknown);
    parts.federation.unlinkAll = async () => [];
    await assert.rejects(
      account.deleteAccount(user, attempt),
      (error) => error instanceof StoreUnavailable && !(error instanceof OutcomeUnknown),
    );
    assert.deepEqual(
      audited.map(({ detail }) => detail),
      [unfinished(3)],
      "the second time nothing was changed",
    );
    parts.federation.unlinkAll = async () => {
      links.length = 0;
      throw new Error("the connection was lost");
    };
    await assert.rejects(account.deleteAccount(user, attempt), /the connection was lost/);
    assert.deepEqual(audited.at(-1)?.detail, unfinished(1));
    parts.federation.unlinkAll = unlinkAll;
    parts.identity.removeUser = () => Promise.reject(new NotFound("There is no such user."));
    await account.deleteAccount(user, attempt);
    assert.equal(audited.length, 2, "another request has removed the user");
  });

  it("is tried up to three times while a home is linked at the same moment", async () => {
    const { account, parts } = made();
    const failing = (errors: Error[]) => {
      let tries = 0;
      parts.identity.removeUser = async () => {
        tries += 1;
        const error = errors.shift();
        if (error) throw error;
      };
      return () => tries;
    };
    const linked = () => new Conflict("A home is linked.");
    const twice = failing([linked(), linked()]);
    await account.deleteAccount(user, attempt);
    assert.equal(twice(), 3);
    const always = failing([linked(), linked(), linked(), linked()]);
    await assert.rejects(account.deleteAccount(user, attempt), Conflict);
    assert.equal(always(), 3);
    const gone = failing([new NotFound("There is no such user.")]);
    await account.deleteAccount(user, attempt);
    assert.equal(gone(), 1, "another request has removed the user already");
    failing([new StoreUnavailable("It is down.")]);
    await assert.rejects(account.deleteAccount(user, attempt), OutcomeUnknown, "homes are unlinked");
    failing([new Error("a defect")]);
    await assert.rejects(account.deleteAccount(user, attempt), /a defect/);
  });
});

function app(letter: string) {
  return { clientId: `bwc_${letter}`, name: letter.toUpperCase(), covers: "user" };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
