import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { BadParameter, BadValue } from "../../src/model/errors.ts";
import { consolePages } from "../../src/outlets/console/pages.ts";
import { heading, signIn } from "../browser/link-site.ts";
import { browserOfFile, skip } from "../browser/world.ts";
import { sampleOf } from "../set-up/sample.ts";
import { person } from "../stories/world.ts";
import { password } from "./administration-world.ts";
import { addressesOf, type FullWorld, fullWorld, furtherAddresses } from "./full-world.ts";
import { hostileTexts, isStored } from "./hostile-texts.ts";
import { operatorTab } from "./operator-tab.ts";
import { planFor, tellRefusal, tellTexts } from "./told-texts.ts";

const browser = browserOfFile();
const sample = sampleOf(Object.entries(hostileTexts), { everyNth: 20 });

/** Puts the text into every name that an outsider chooses. Returns the names of those that refuse it. */
async function putEverywhere(made: FullWorld, text: string, nth: number): Promise<readonly string[]> {
  const { run, tenant, house, user } = made;
  const { parts, baseUrl } = house.service;
  const ofUser = { kind: "user", userId: house.userId } as const;
  const refused: string[] = [];
  const put = async <Added>(place: string, act: () => Promise<Added>): Promise<Added | undefined> => {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof BadParameter || error instanceof BadValue)) throw error;
      refused.push(place);
      return undefined;
    }
  };
  await put("tenant", () => run("tenant add", { name: text }));
  await put("user", () => run("user add", { tenant, name: text, password }));
  const client = await put("client", () => run("client add", { tenant, name: text, kind: "enterprise" }));
  const device = await put("device", () => run("device add", { user, name: text, type: `Lamp ${nth}`, room: text }));
  const deviceId = device?.deviceId ?? made.lamp;
  await put("attribute", () => parts.devices.write(ofUser, deviceId, [{ name: "note", value: text }]));
  const watched = { user, device: String(deviceId), attribute: "note", action: "notify" };
  await put("alert", () => run("home alert add", { ...watched, value: text, message: text }));
  if (client) {
    const { tenantId } = await parts.identity.findUser(house.userId);
    const owner = { kind: "enterprise", tenantId, clientId: client.client_id } as const;
    const url = `http://127.0.0.1:9/${encodeURIComponent(text.toWellFormed())}?${text.replace(/[^\x21-\x7e]|#/g, "")}`;
    await put("webhook", () => parts.events.webhooks.add(owner, { url, deviceIds: [], attributes: [] }));
  }
  const agent = text.replace(/[^\x20-\x7e]/g, "?");
  await fetch(`${baseUrl}/v3/devices/${encodeURIComponent(text.toWellFormed())}`, { headers: { "user-agent": agent } });
  return refused;
}

interface Harm {
  readonly elements: readonly string[];
  readonly addresses: readonly string[];
}

/** Elements and attributes that a text has made, and addresses that lead to a script. */
function harmIn(tab: Page): Promise<Harm> {
  return tab.evaluate<Harm>(`({
    elements: [...document.querySelectorAll("[data-hurt], base, main script, main object, main embed, main style")]
      .map(({ outerHTML }) => outerHTML),
    addresses: [...document.querySelectorAll("[href], [src], [action], [formaction]")]
      .flatMap((one) => ["href", "src", "action", "formaction"].map((name) => one.getAttribute(name) ?? ""))
      .filter((address) => /^\\s*(javascript|data|vbscript):|^[^?]*hurt\\.example/i.test(address)),
  })`);
}

describe("hostile texts in names", { skip }, () => {
  it("are shown as text on every page: no dialog, no request elsewhere, no element", {
    timeout: 900_000,
  }, async (t) => {
    const told = sample.map(([, text]) => text);
    const made = await fullWorld(t, planFor(told));
    await tellTexts(t, made, told);
    const kept: string[] = [];
    for (const [nth, [context, text]] of sample.entries()) {
      const refused = await putEverywhere(made, text, nth);
      if (isStored(text)) {
        assert.deepEqual(refused, [], context);
        kept.push(text.normalize("NFC").trim());
      } else assert.ok(refused.includes("user") && refused.includes("client") && refused.includes("tenant"), context);
    }
    await tellRefusal(t, made, hostileTexts["element with a handler"]!);
    const owner = await made.owner();
    const addresses = addressesOf(made);
    const devices = (await made.run("device owners", { user: made.user })).devices as readonly { deviceId: number }[];
    const searches = kept.map((text) => `/search?q=${encodeURIComponent(text)}`);
    const paths = [
      ...consolePages.map(({ path }) => addresses[path] ?? path),
      ...furtherAddresses(made),
      ...devices.slice(-kept.length).map(({ deviceId }) => `/devices/${made.user}/${deviceId}`),
      ...searches,
      `/homes/${made.user}/home`,
      `/things?user=${made.user}&kind=light`,
      "/requests?only=all&status=4xx",
    ];
    const { baseUrl } = made.house.service;
    await operatorTab(browser(), { world: { baseUrl } }, owner, {}, async (tab) => {
      const harm: string[] = [];
      let path = "";
      tab.on("dialog", (dialog) => {
        harm.push(`${path}: a dialog`);
        void dialog.dismiss();
      });
      tab.on("request", (request) => {
        if (!request.url().startsWith(`${baseUrl}/`)) harm.push(`${path}: ${request.url()}`);
      });
      const look = async (at: string) => {
        path = at;
        const answer = await tab.goto(path);
        assert.equal(answer?.status(), 200, path);
        const { elements, addresses: scripts } = await harmIn(tab);
        harm.push(...[...elements, ...scripts].map((one) => `${path}: ${one}`));
      };
      for (const at of paths) await look(`/console${at}`);
      await signIn(tab, `${baseUrl}/account/${made.tenant}`, person);
      await heading(tab, "Your account");
      await look(`/account/${made.tenant}`);
      const account = await tab.locator("main").evaluate((main) => main.textContent ?? "");
      assert.ok(account.includes(told[0]!), "the account page names the home");
      assert.deepEqual(harm, []);
      for (const [page, place] of [
        ["/users", "users"],
        ["/clients", "clients"],
        ["/tenants", "tenants"],
        [`/homes/${made.user}/home`, "things of an ecosystem"],
      ] as const) {
        await tab.goto(`/console${page}`);
        // Texts of an ecosystem are shown as it told them; those of people are normalized when they are stored.
        const shown = await tab.locator("main").evaluate((main) => (main.textContent ?? "").normalize("NFC"));
        for (const text of kept) assert.ok(shown.includes(text), `${place}: ${text}`);
      }
    });
  });
});
