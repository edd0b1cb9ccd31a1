import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { TenantId } from "../../src/model/ids.ts";
import { addressOf, fixtureOf } from "../operators/call-fixture.ts";
import type { OperatorBrowser } from "../operators/operator-browser.ts";
import { operatorWorld, password } from "../operators/operator-world.ts";
import { sharedCluster } from "../set-up/postgres.ts";
import { sampleOf } from "../set-up/sample.ts";
import { databases } from "../stories/world.ts";

type World = Awaited<ReturnType<typeof operatorWorld>>;

/** A caller who may not reach the tenant Acme. */
interface Outsider {
  readonly title: string;
  readonly browser: OperatorBrowser;
  readonly headers: Readonly<Record<string, string>>;
}

for (const database of databases) {
  describe(`/admin/v1, on ${database}`, () => {
    it("neither shows nor changes a tenant for anybody who does not reach it", { timeout: 240_000 }, async (t) => {
      const world = await operatorWorld(t, await databaseUrlFor(database));
      await world.owner();
      await world.run("tenant add", { name: "Other" });
      const outsiders = await everyOutsider(t, world);
      const fixture = await fixtureOf(world);
      const { administration } = world.service.parts;
      const before = await stored(world);
      const tried = database === "sqlite" ? fixture : sampleOf([...fixture], { everyNth: 8 });
      for (const [act, makeSent] of tried) {
        const call = administration.calls.find((one) => one.act === act)!;
        const { path, json } = addressOf(call, act.startsWith("outlet ") ? { at: ["bwo_none"] } : await makeSent());
        for (const { title, browser, headers } of outsiders) {
          const answer = await browser.ask(call.method, path, json, headers);
          const body = await answer.text();
          const where = `${act} by ${title}: ${answer.status} ${body}`;
          assert.ok(answer.status < 500, where);
          if (answer.status < 400) {
            assert.ok(call.need === "read", where);
            assert.doesNotMatch(body, /Acme|Voice|"eve"|wh_|bwc_|"(ada|bob)"/, where);
          } else assert.ok([400, 401, 403, 404].includes(answer.status), where);
        }
      }
      assert.deepEqual(await stored(world), before);
      // The made link has a token that no key opens. On PostgreSQL the node takes it up and says so.
      const isOfMadeLink = (line: string) => line.includes("a link's token can't be opened");
      const failures = world.logged.filter((line) => line.includes('"level":"error"') && !isOfMadeLink(line));
      assert.deepEqual(failures, []);
    });
  });
}

async function databaseUrlFor(database: string): Promise<string | undefined> {
  return database === "sqlite" ? undefined : (await sharedCluster()).createDatabase();
}

async function everyOutsider(_t: TestContext, world: World): Promise<readonly Outsider[]> {
  const { run, invited, newBrowser, service } = world;
  const other = { tenant: ["Other"] };
  const admin = await invited("grace", { role: "tenantAdmin", ...other });
  const viewer = await invited("vera", { role: "viewer", ...other });
  const suspended = await invited("sue", { role: "owner" });
  const signedOut = await invited("otto", { role: "owner" });
  const tokenOf = async (operator: string) => (await run("operator token make", { operator, name: "ci" })).token;
  const tokens = {
    "a tenant admin of another tenant": await tokenOf("grace"),
    "a viewer of another tenant": await tokenOf("vera"),
    "a suspended owner": await tokenOf("sue"),
  };
  await run("operator suspend", { operator: "sue" });
  const { cookie } = signedOut;
  await signedOut.send("/console/sign-out", {});
  signedOut.cookie = cookie;
  const { identity, oauth } = service.parts;
  const user = await identity.addUser({ tenant: "Other", name: "mallory", password, isAdmin: true });
  const { tenantId } = await identity.findTenant("Other");
  const bearers = {
    ...Object.fromEntries(Object.entries(tokens).map(([title, token]) => [`${title}, with a token`, token])),
    "a user with a security token": await identity.issueFor(user),
    "a client with an access token": await oauth.commandTokens.issue(tenantId as TenantId, "command-line"),
    "a guess": `bwop_${"A".repeat(43)}`,
  };
  return [
    { title: "a tenant admin of another tenant", browser: admin, headers: {} },
    { title: "a viewer of another tenant", browser: viewer, headers: {} },
    { title: "a suspended owner", browser: suspended, headers: {} },
    { title: "an owner who has signed out", browser: signedOut, headers: {} },
    { title: "nobody", browser: newBrowser(), headers: {} },
    ...Object.entries(bearers).map(([title, token]) => ({
      title,
      browser: newBrowser(),
      headers: { authorization: `Bearer ${token}` },
    })),
  ];
}

/** What the calls could change, as owners see it. */
async function stored({ run }: World): Promise<string> {
  const lists = ["tenant list", "user list", "client list", "operator list", "outlet list", "key list"];
  const answers = await Promise.all(lists.map((act) => run(act)));
  const grants = await run("grant list", { user: String(answers[1].users.find(isEve).userId) });
  const sessions = await run("operator sessions list", { operator: "bob" });
  const [{ webhookId }] = (await run("hook list")).webhooks;
  const { deliveries } = await run("hook deliveries", { webhook: webhookId });
  // The service itself delivers what the log tells, at any time: only the made delivery and tests count.
  const messages = (deliveries as readonly { messageId: string; type: string }[]).filter(
    ({ messageId, type }) => messageId === "m" || type === "test",
  );
  const sent = messages.map(({ messageId }) => messageId);
  return JSON.stringify([...answers, grants, sessions.sessions.length, webhookId, sent]);
}

function isEve({ name }: { readonly name: string }): boolean {
  return name === "eve";
}
