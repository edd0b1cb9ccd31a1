import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { summaryOf } from "../../src/link-sessions/home-summary.ts";
import { problems } from "../../src/link-sessions/session-status.ts";
import { sessionPages } from "../../src/link-sessions/steps/session-pages.ts";
import { cleanText } from "../../src/model/clean-text.ts";
import { hostileTexts } from "../console/hostile-texts.ts";

/** A name without any character that HTML knows. */
const harmless = "Maple-Street-7";

describe("hostile names and texts on a link page", () => {
  it("are shown as text: they make no tag, no attribute and no address", async () => {
    const expected = new Map<string, ReturnType<typeof seenOn>>();
    for (const [name, written] of await pagesWith(harmless)) expected.set(name, seenOn(written, harmless));
    for (const { count } of expected.values()) assert.ok(count > 0);
    for (const [context, hostile] of Object.entries(hostileTexts)) {
      // The product cleans a text of an ecosystem before it is stored.
      const text = cleanText(hostile);
      for (const [name, written] of await pagesWith(text)) {
        assert.deepEqual(seenOn(written, text), expected.get(name), `${name}: ${context}`);
      }
    }
  });
});

/** Every page of a session, by its name, on which each text of an outsider is this one. */
async function pagesWith(text: string): Promise<ReadonlyMap<string, string>> {
  const brand = { tenantName: text, accent: undefined, supportUrl: undefined, hasLogo: false, terms: undefined };
  const identity = { brandOf: async () => brand } as never;
  const pages = sessionPages({ identity, baseUrl: () => "https://here.example" });
  const found = (fields: object, asksForAddress = false) => {
    const structures = { byId: new Map([["s", { isRead: true, object: { name: text } }]]) };
    const session = {
      ...{ ownerId: 5, id: "ls_1", tenantId: 3, mode: "link", isSignedIn: false, phase: "open", problem: null },
      ...{ returnUrl: "https://app.example/linked", clientState: text },
      summary: JSON.stringify(summaryOf({ structures } as never)),
      ...fields,
    };
    const connector = { displayName: text, consent: { asksForAddress } };
    const client = { name: text };
    return { session, secrets: { root: "r", address: text }, client, connector, user: { name: text } } as never;
  };
  const failed = (problem: object) => found({ phase: "failed", problem: JSON.stringify(problem) });
  const shown: Readonly<Record<string, ReturnType<typeof pages.expired>>> = {
    signIn: pages.signIn(found({}), "secret"),
    "signIn again": pages.signIn(found({}), "secret", { username: text, problem: { kind: "otherUser", name: text } }),
    connect: pages.connect(found({}), "secret"),
    "connect with an address": pages.connect(found({}, true), "secret", { address: text, problem: text }),
    renew: pages.connect(found({ mode: "renew", isSignedIn: true }), "secret"),
    "ecosystem unreachable": pages.unreachable(
      found({ problem: JSON.stringify(problems.unreachable(text)) }),
      "secret",
    ),
    interrupted: pages.unreachable(found({}), "secret"),
    anotherAccount: pages.anotherAccount(found({}), "secret"),
    alreadyLinked: pages.ended(failed(problems.alreadyLinked())),
    refused: pages.ended(failed(problems.refused(text))),
    linked: pages.ended(found({ phase: "linked" })),
    "linked without devices": pages.ended(found({ phase: "linked", summary: "[]" })),
    declined: pages.ended(found({ phase: "declined" })),
    expired: pages.expired(found({})),
    otherBrowser: pages.otherBrowser(found({})),
    used: pages.used(found({})),
    reading: pages.reading(found({})),
  };
  const written = Object.entries(shown).map(async ([name, one]) => [name, (await one).page.html] as const);
  return new Map(await Promise.all(written));
}

/** A tag, with a `>` in its quoted attributes. */
const tag = /<(?:"[^"]*"|[^">])*>/g;
const attribute = / ([a-z-]+)="[^"]*"/g;
/** Attributes that lead to an address. */
const leading = new Set(["href", "src", "action", "content"]);

/** The tags of a page with the names of their attributes and with their addresses, and how often it shows the text. */
function seenOn(written: string, text: string) {
  const state = `state=${encodeURIComponent(text)}`.replaceAll("'", "&#39;");
  const outlined = (one: string) =>
    one.replaceAll(state, "state=…").replace(attribute, (whole, name) => (leading.has(name) ? whole : ` ${name}`));
  const tags = (written.match(tag) ?? []).map(outlined);
  return { tags, count: textOf(written).split(text).length - 1 };
}

const characters: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };

/** The text that a browser shows. */
function textOf(written: string): string {
  return written.replace(tag, "").replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => characters[name]!);
}
