import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it, type TestContext } from "node:test";
import { first, simulatorWorld } from "./world.ts";

const browser = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

/** The headers of a browser's request that another site's page makes. */
const pagesOfOthers: readonly Record<string, string>[] = [
  { "Sec-Fetch-Site": "cross-site" },
  { "Sec-Fetch-Site": "same-site", Origin: "http://127.0.0.1:9" },
  { Origin: "https://stranger.example" },
  { Origin: "http://127.0.0.1:9" },
  { Origin: "null" },
];

async function pageWorld(test: TestContext) {
  const world = await simulatorWorld(test);
  const { url } = world.simulator;
  const page = async (path: string) => {
    const response = await fetch(url + path, { headers: browser });
    return { response, text: await response.text() };
  };
  const press = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${url}/simulator/page`, {
      method: "POST",
      redirect: "manual",
      headers,
      body: new URLSearchParams(fields),
    });
  return { ...world, page, press };
}

const consent = (clientId: string, more = "") => `/login/oauth2?client_id=${clientId}&state=s${more}`;

/** The content security policy allows only the page's own style, and does not block forms. */
function assertStrict({ response, text }: { response: Response; text: string }): void {
  const policy = response.headers.get("content-security-policy")!;
  const style = /<style>([\s\S]*?)<\/style>/.exec(text)![1]!;
  assert.ok(policy.includes(`style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`));
  assert.match(policy, /^default-src 'none'/);
  assert.ok(!policy.includes("form-action"));
  assert.ok(!/<script|\sstyle=|\son[a-z]+=|javascript:/i.test(text));
  assert.ok(!/(src|href|action)="(https?:)?\/\//i.test(text), "no request leaves the page");
  assert.match(text, /<meta name="viewport"/);
  assert.match(text, /prefers-color-scheme:dark/);
  assert.match(text, /<title>[^<]*Hearth &amp; Hollow<\/title>/);
  assert.ok(!text.includes("Breezeway"));
}

describe("the consent page", () => {
  it("names the app, what it may do and where the owner goes next; both buttons look alike", async (t) => {
    const { simulator, page } = await pageWorld(t);
    simulator.addAccount({ structures: [{ name: "Maple Street" }] });
    const permissions = ["thermostat:read", "smoke-co-alarm:read"];
    const redirectUri = "https://lantern.example/cb";
    const { clientId } = simulator.registerClient({ name: "Lantern", redirectUri, permissions });
    const shown = await page(consent(clientId));
    assert.equal(shown.response.status, 200);
    assertStrict(shown);
    for (const words of [
      "Lantern",
      "See your thermostats<",
      "smoke and CO alarms",
      "lantern.example",
      "Maple Street",
    ]) {
      assert.ok(shown.text.includes(words), words);
    }
    assert.ok(!shown.text.includes("run their fans"));
    const buttons = shown.text.match(/<button[^>]*>/g)!;
    assert.deepEqual(buttons.map((button) => button.replace(/allow|deny/, "")).length, 2);
    assert.equal(buttons[0]!.replace("deny", ""), buttons[1]!.replace("allow", ""));
  });

  it("lists the homes to choose from when there are several", async (t) => {
    const { simulator, page } = await pageWorld(t);
    simulator.addAccount({ structures: [{ name: "Mill" }, { name: "Barn" }] });
    simulator.addAccount({ structures: [{ name: "Tower" }] });
    const { text } = await page(consent(simulator.defaultClient.clientId));
    assert.equal(text.match(/type="radio"/g)?.length, 2);
    assert.ok(text.includes("Mill, Barn") && text.includes("Tower"));
  });

  it("stays below 15 kB and escapes all names", async (t) => {
    const { simulator, page } = await pageWorld(t);
    const evil = `"><script>alert('x')</script>&${"<b>".repeat(20)}`;
    for (let i = 0; i < 60; i++) simulator.addAccount({ structures: [{ name: evil }, { name: evil }, { name: evil }] });
    const { clientId } = simulator.registerClient({ name: evil, redirectUri: "https://a.example/?q='x" });
    const shown = await page(
      consent(clientId, `&state2=x&redirect_uri=${encodeURIComponent("https://a.example/?q='x")}`),
    );
    assertStrict(shown);
    assert.ok(!shown.text.includes("<b>"));
    assert.ok(Buffer.byteLength(shown.text) < 15_000, `${Buffer.byteLength(shown.text)} bytes`);
    const state = encodeURIComponent(evil);
    const other = await page(`/login/oauth2?client_id=${clientId}&state=${state}`);
    assertStrict(other);
    assert.ok(other.text.includes("&quot;&gt;&lt;script&gt;"));
  });

  it("shows errors on an error page", async (t) => {
    const { page } = await pageWorld(t);
    const shown = await page(consent("<script>"));
    assert.equal(shown.response.status, 400);
    assertStrict(shown);
  });
});

describe("the page of the homes", () => {
  it("is shown to browsers at the root, and never to programs", async (t) => {
    const { simulator, call, page } = await pageWorld(t);
    const { token } = simulator.addAccount();
    const shown = await page("/");
    assert.equal(shown.response.status, 200);
    assertStrict(shown);
    const headers = { ...browser, Authorization: `Bearer ${token}` };
    const document = await fetch(simulator.url, { headers });
    assert.equal(document.headers.get("content-type"), "application/json");
    assert.equal((await call("GET", "/", undefined, token)).status, 200);
    assert.equal((await call("GET", "/")).status, 401);
    assert.equal((await page(`/?auth=${token}`)).response.headers.get("content-type"), "application/json");
    assert.equal((await page("/structures")).response.status, 401);
  });

  it("shows rooms, scenes, faults and what was sent, and no token", async (t) => {
    const { simulator, page } = await pageWorld(t);
    const { accountId, token } = simulator.addAccount({ structures: [{ name: "Mill <1>" }] });
    await simulator.playScene(accountId, { scene: "smoke" });
    await simulator.playScene(accountId, { scene: "thermostat-offline" });
    simulator.addFault({ fault: "slow", ms: 1 });
    const shown = await page("/simulator/page");
    assertStrict(shown);
    for (const words of [
      "Mill &lt;1&gt;",
      "smoke emergency",
      "offline",
      "slow · ms 1 · every account",
      "scene smoke",
    ]) {
      assert.ok(shown.text.includes(words), words);
    }
    assert.ok(!shown.text.includes(token));
  });

  it("makes a home, plays scenes, turns faults on and off and ends an app's access, each with a redirect back to the page", async (t) => {
    const { simulator, page, press } = await pageWorld(t);
    assert.ok((await page("/")).text.includes("No home yet"));
    const made = await press({ make: "account" });
    assert.deepEqual([made.status, made.headers.get("location")], [303, "/simulator/page?account=account-1"]);
    const account = simulator.accountIds()[0]!;
    const { structures } = simulator.document(account);
    const structure = Object.keys(structures as object)[0]!;
    assert.equal((await press({ account, scene: "leave", structure })).status, 303);
    assert.equal((await press({ account, scene: "rename", structure, name: "Villa" })).status, 303);
    const { away, name } = first(simulator.document(account).structures);
    assert.deepEqual([away, name], ["away", "Villa"]);
    assert.equal((await press({ account, fault: "duplicate" })).status, 303);
    assert.equal((await press({ account, fault: "slow" })).status, 303);
    const [fault] = simulator.faults();
    assert.equal(fault!.accountId, account);
    assert.equal((await press({ account, clear: fault!.id })).status, 303);
    assert.equal((await press({ account, clear: "all" })).status, 303);
    assert.deepEqual(simulator.faults(), []);
    const token = simulator.issueToken(account);
    assert.equal((await press({ account, end: simulator.defaultClient.clientId })).status, 303);
    assert.equal(simulator.revokeToken(token), false);
  });

  it("has a button for every scene that it offers, and each of them works or says why not", async (t) => {
    const { simulator, page, press } = await pageWorld(t);
    const { accountId: account } = simulator.addAccount({ structures: [{}, {}] });
    const { text } = await page("/");
    const values = (name: string) =>
      [...text.matchAll(new RegExp(`<button name="${name}" value="([^"]+)"`, "g"))].map((match) => match[1]!);
    const structure = Object.keys(simulator.document(account).structures as object)[0]!;
    assert.ok(values("scene").length > 15 && values("fault").length > 10);
    for (const scene of values("scene")) {
      const { status } = await press({ account, scene, structure, name: "New" });
      assert.ok([303, 400, 409].includes(status), `${scene} ${status}`);
    }
    for (const fault of values("fault")) assert.equal((await press({ account, fault })).status, 303, fault);
  });

  it("shows on the page why something is not possible", async (t) => {
    const { simulator, press } = await pageWorld(t);
    const { accountId: account } = simulator.addAccount();
    const refused = await press({ account, scene: "move" });
    assert.equal(refused.status, 409);
    assert.match(await refused.text(), /role="alert">There is no other structure to move to\./);
    assert.equal((await press({ account, scene: "rename", name: "" })).status, 400);
    assert.equal((await press({ account })).status, 400);
    assert.equal((await press({ scene: "leave" })).status, 400);
    assert.equal((await press({ account: "nobody" })).status, 404);
  });

  it("doesn't let another site press its buttons", async (t) => {
    const { simulator, press } = await pageWorld(t);
    for (const headers of pagesOfOthers) {
      assert.equal((await press({ make: "account" }, headers)).status, 403, JSON.stringify(headers));
    }
    assert.deepEqual(simulator.accountIds(), []);
    for (const headers of [{ "Sec-Fetch-Site": "same-origin", Origin: "null" }, { Origin: simulator.url }, {}]) {
      assert.equal((await press({ make: "account" }, headers)).status, 303, JSON.stringify(headers));
    }
    assert.equal(simulator.accountIds().length, 3);
  });

  it("doesn't let another site call the control interface or give an app access", async (t) => {
    const { simulator } = await pageWorld(t);
    const { accountId } = simulator.addAccount();
    const { clientId } = simulator.defaultClient;
    const decision = new URLSearchParams({ client_id: clientId, state: "s", decision: "allow", account: accountId });
    const sent = (path: string, method: string, headers: Record<string, string>, body?: string | URLSearchParams) =>
      fetch(simulator.url + path, { method, headers, redirect: "manual", ...(body !== undefined && { body }) });
    for (const headers of pagesOfOthers) {
      // A simple request, which needs no preflight: plain text that is JSON.
      const fault = await sent("/simulator/faults", "POST", headers, JSON.stringify({ fault: "silence", accountId }));
      assert.equal(fault.status, 403);
      assert.match(await fault.text(), /"message":"A page of another site may not change anything here\./);
      assert.equal((await sent(`/simulator/accounts/${accountId}`, "DELETE", headers)).status, 403);
      const allowed = await sent("/login/oauth2", "POST", headers, decision);
      assert.equal(allowed.status, 403);
      assert.equal(allowed.headers.get("location"), null);
    }
    assert.deepEqual([simulator.faults(), simulator.accountIds()], [[], [accountId]]);
    assert.equal((await sent(`/simulator/accounts/${accountId}`, "DELETE", {})).status < 300, true);
  });

  it("renders any document", async (t) => {
    const { simulator, page } = await pageWorld(t);
    const { accountId } = simulator.addAccount();
    const odd = { device_id: "t", name: { toString: 5 }, structure_id: null };
    const structure = { structure_id: "s", name: [], away: {}, thermostats: ["t", "x"], smoke_co_alarms: ["t"] };
    const documents = [
      {},
      { structures: 5 },
      { devices: { thermostats: { t: odd }, smoke_co_alarms: { t: odd } }, structures: { s: structure } },
    ];
    for (const document of documents) {
      simulator.replaceDocument(accountId, document as never);
      assert.equal((await page("/")).response.status, 200, JSON.stringify(document));
      assert.equal((await page(consent(simulator.defaultClient.clientId))).response.status, 200);
    }
  });
});
