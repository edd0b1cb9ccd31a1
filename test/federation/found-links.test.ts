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

/** A store with these links, that counts how many it lists. */
function storeOf() {
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
    async joinedSearchText(filter: ListedLinkFilter) {
      const page = some(filter);
      const last = page.length < filter.limit ? undefined : page.at(-1);
      return { last, words: page.map((link) => linkSearchText(link as never)).join("\n") };
    },
  };
  const tx = { links: tables, clock: { nowMs: async () => 5 } };
  const parts = {
    store: { isShared: false, read: (body: (given: typeof tx) => unknown) => body(tx) },
    ...{ membership: { id: "n1", isAlive: true }, keeper: { supervisor: () => undefined } },
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
