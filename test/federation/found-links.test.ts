import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { foundLinks, type OverviewParts } from "../../src/federation/link-overview.ts";
import type { UserId } from "../../src/model/ids.ts";
import { type ListedLinkFilter, linkSearchText } from "../../src/store/tables/links.ts";

const links = Array.from({ length: 1_700 }, (_, nth) => ({
  ...{ userId: nth + 1, deviceId: 10_000 + nth, ecosystem: nth % 2 === 0 ? "nest" : "home", tenantId: 1 },
  ...{ userName: nth === 1_234 ? "ΟΔΥΣΣΕΥΣ" : `user${nth}`, state: "waiting", reason: "", owner: null },
  ...{ confirmedMs: 1, blindSinceMs: null, blindCause: null },
}));

/** A store with these links, that counts how many it lists. The node follows those that `stateOf` has a state for. */
function storeOf(stateOf: (deviceId: number) => string | undefined = () => undefined, isAlive = true) {
  let listed = 0;
  const some = ({ after, limit }: ListedLinkFilter) => {
    const start = after === undefined ? 0 : links.findIndex(({ userId }) => userId === after.userId) + 1;
    return links.slice(start, start + limit);
  };
  const tables = {
    async listed(filter: ListedLinkFilter) {
      const page = some(filter);
      listed += page.length;
      return page;
    },
    async joinedSearchText(filter: ListedLinkFilter, hasIds: boolean) {
      const page = some(filter);
      const last = page.length < filter.limit ? undefined : page.at(-1);
      const words = page.map((link) => (hasIds ? linkSearchText(link as never) : `${link.userName} ${link.ecosystem}`));
      return { last, words: words.join("\n") };
    },
    async listedDevices(filter: ListedLinkFilter) {
      const page = some(filter);
      const last = page.length < filter.limit ? undefined : page.at(-1);
      return { last, deviceIds: page.map(({ deviceId }) => deviceId) };
    },
  };
  const tx = { links: tables, clock: { nowMs: async () => 5 } };
  const parts = {
    store: { isShared: false, read: (body: (given: typeof tx) => unknown) => body(tx) },
    membership: { id: "n1", isAlive },
    keeper: {
      supervisor(deviceId: number) {
        const state = stateOf(deviceId);
        return state && { standing: { state, reason: "" }, isLive: state === "live", confirmedMs: 5 };
      },
    },
  } as unknown as OverviewParts;
  return { parts, listed: () => listed };
}

async function usersFoundBy(text: string | undefined, after?: { userId: UserId; ecosystem: string }) {
  const { parts, listed } = storeOf();
  const found: number[] = [];
  for await (const some of foundLinks(parts, { text, after })) found.push(...some.map(({ userId }) => userId));
  return { found, listed: listed() };
}

describe("links that are found by a text", () => {
  for (const text of [
    undefined,
    "",
    "user",
    "USER16",
    "οδυσσευς",
    "nest 1",
    "home 17",
    " 10900",
    "nobody",
    "9\nuser",
  ]) {
    it(`are those whose words contain it: ${JSON.stringify(text)}`, async () => {
      const isWanted = (link: (typeof links)[number]) =>
        linkSearchText(link as never)
          .toLowerCase()
          .includes((text ?? "").toLowerCase());
      const wanted = links.filter(isWanted).map(({ userId }) => userId);
      assert.deepEqual((await usersFoundBy(text)).found, wanted);
      const after = { userId: 1_000 as UserId, ecosystem: "home" };
      assert.deepEqual(
        (await usersFoundBy(text, after)).found,
        wanted.filter((userId) => userId > 1_000),
      );
    });
  }

  it("are read alone: the others have no rows", async () => {
    assert.equal((await usersFoundBy("nobody")).listed, 0);
    assert.equal((await usersFoundBy("user1699")).listed, 200);
  });
});

describe("links that are found by their state", () => {
  const usersIn = async (state: string, { parts, listed }: ReturnType<typeof storeOf>, text?: string) => {
    const found: number[] = [];
    for await (const some of foundLinks(parts, { state, text })) found.push(...some.map(({ userId }) => userId));
    return { found, listed: listed() };
  };
  const states = (deviceId: number) => (deviceId === 11_100 ? "needs_reauth" : "live");

  it("are those that this node shows in it; only the rows around them are read", async () => {
    assert.deepEqual(await usersIn("needs_reauth", storeOf(states)), { found: [1_101], listed: 500 });
    assert.deepEqual(await usersIn("waiting", storeOf(states)), { found: [], listed: 0 });
    assert.equal((await usersIn("live", storeOf(states))).found.length, 1_699);
    assert.deepEqual((await usersIn("needs_reauth", storeOf(states), "user11")).found, [1_101]);
    assert.deepEqual((await usersIn("live", storeOf(states), "user1100")).found, []);
  });

  it("are read from the store where this node does not follow them", async () => {
    const unfollowed = (deviceId: number) => (deviceId === 10_600 ? undefined : "live");
    assert.deepEqual(await usersIn("not_followed", storeOf(unfollowed)), { found: [601], listed: 500 });
    const ofDeadNode = await usersIn("not_followed", storeOf(states, false));
    assert.equal(ofDeadNode.found.length, 1_700, "a node that may have lost its links shows none as followed");
  });
});
