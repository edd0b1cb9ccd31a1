import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sessionLifetime as operatorSession } from "../../src/operators/sessions.ts";
import { EventStream } from "../events/event-stream.ts";
import { send } from "../events/made-home.ts";
import { type LinkWorld, linkWorld } from "../link-sessions/link-world.ts";
import { databases } from "../set-up/deployment.ts";
import { type Answered, ada } from "./oauth-world.ts";
import { formOf, ScriptedBrowser } from "./scripted-browser.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

interface Access {
  readonly name: string;
  readonly lastsMs: number;
  readonly isForOneUse?: boolean;
  /** Its time is in the sealed text. On PostgreSQL, whose clock a test can't move, it stays valid. */
  readonly isSealed?: boolean;
  /** Gets it; what it returns uses it, and is true if the use was accepted. */
  readonly obtain: (world: LinkWorld) => Promise<() => Promise<boolean>>;
}

const isOk = ({ status }: Pick<Answered, "status">) => status === 200;
const isTaken = (use: Promise<unknown>) =>
  use.then(
    (found) => found !== undefined,
    () => false,
  );

const accesses: readonly Access[] = [
  {
    name: "an access token",
    lastsMs: hourMs,
    async obtain({ tokens, get }) {
      const { access_token: token } = await tokens();
      return async () => isOk(await get("/v3/users", token));
    },
  },
  {
    name: "an access token of a command",
    lastsMs: hourMs,
    isSealed: true,
    async obtain({ service, tenantId, get }) {
      const token = await service.parts.oauth.commandTokens.issue(tenantId, "command-line");
      return async () => isOk(await get("/v3/devices?deviceTypeName=Lamp", token));
    },
  },
  {
    name: "a refresh token",
    lastsMs: 400 * dayMs,
    isForOneUse: true,
    async obtain({ tokens, refresh }) {
      const { refresh_token: token } = await tokens();
      return async () => isOk(await refresh(token));
    },
  },
  {
    name: "an authorization code",
    lastsMs: minuteMs,
    isForOneUse: true,
    async obtain(world) {
      const code = await world.code({ client_id: world.client.id });
      return async () => isOk(await world.exchange(code, world.client));
    },
  },
  {
    name: "a sealed login page",
    lastsMs: 10 * minuteMs,
    isForOneUse: true,
    isSealed: true,
    async obtain(world) {
      const browser = new ScriptedBrowser(() => world.baseUrl);
      const page = await browser.get(world.authorizeUrl({ client_id: world.client.id }));
      return async () =>
        (await browser.submit(formOf(page), { username: ada.name, password: ada.password })).status === 303;
    },
  },
  {
    name: "a sign-in that waits for the user's decision",
    lastsMs: 10 * minuteMs,
    isForOneUse: true,
    async obtain(world) {
      const browser = new ScriptedBrowser(() => world.baseUrl);
      const terms = await browser.signIn(world.authorizeUrl({ client_id: world.client.id }), ada);
      return async () => (await browser.submit(formOf(terms), { decision: "accept" })).status === 302;
    },
  },
  {
    name: "a secToken",
    lastsMs: hourMs,
    async obtain({ service, tenantId }) {
      const { identity } = service.parts;
      const { secToken } = await identity.login({ ...ada, appId: String(tenantId), source: "192.0.2.1" });
      return () => isTaken(identity.authenticate(secToken));
    },
  },
  {
    name: "a session of the account page",
    lastsMs: 30 * minuteMs,
    async obtain({ service, tenantId }) {
      const { account } = service.parts;
      const secret = await account.signIn({ ...ada, tenantId: String(tenantId), source: "192.0.2.1" });
      return () => isTaken(account.bySession(tenantId, secret));
    },
  },
  {
    name: "a session of an operator",
    lastsMs: operatorSession.idleMs,
    async obtain({ service }) {
      const { operators } = service.parts;
      const session = await joined(operators);
      return () => isTaken(operators.bySession(session));
    },
  },
  {
    name: "an API token of an operator",
    lastsMs: dayMs,
    async obtain({ service }) {
      const { operators } = service.parts;
      const { operatorId } = await operators.bySession(await joined(operators));
      const { secret } = await operators.addToken(operatorId, { name: "script", days: 1 });
      return () => isTaken(operators.byToken(secret));
    },
  },
  {
    name: "a claim link",
    lastsMs: 30 * minuteMs,
    async obtain({ service }) {
      const { operators } = service.parts;
      const link = await operators.claimLink();
      return () => isTaken(operators.openLink("claim", link));
    },
  },
  {
    name: "a link session",
    lastsMs: 30 * minuteMs,
    async obtain(world) {
      const { url } = await world.create(await world.tokenOf());
      return async () => isOk(await world.visitor().open(url));
    },
  },
];

let people = 0;

/** A new operator; returns the secret of the session. */
async function joined(operators: LinkWorld["service"]["parts"]["operators"]): Promise<string> {
  const name = `operator ${++people}`;
  const link = await operators.invite({ name, role: "owner", tenantIds: [] });
  const origin = { source: "192.0.2.1", userAgent: "Browser" };
  return operators.takeLink("invitation", link, { name, password: "correct horse", tenant: "", ...origin });
}

for (const database of databases) {
  describe(`a machine that sleeps, on ${database}`, { timeout: 120_000 }, () => {
    it("refuses what has expired meanwhile, from the first request on", async (t) => {
      const world = await linkWorld(t, { database });
      for (const { name, lastsMs, isForOneUse, isSealed, obtain } of accesses) {
        if (isSealed && database !== "sqlite") continue;
        const control = await obtain(world);
        assert.equal(await control(), true, `${name} is accepted`);
        const use = await obtain(world);
        if (!isForOneUse) assert.equal(await use(), true, `${name} is accepted`);
        await world.machineSleeps(lastsMs);
        assert.equal(await use(), false, `${name} is refused`);
      }
    });

    it("ends a stream whose token has expired meanwhile, and sends no more on it", async (t) => {
      const world = await linkWorld(t, { database });
      const lamp = await world.addDevice(world.userId, "Lamp");
      const { access_token: token } = await world.tokens();
      const stream = await EventStream.open(world.baseUrl, token);
      await world.machineSleeps(hourMs);
      const { access_token: another } = await world.tokens();
      const write = await send(`${world.baseUrl}/v3/devices/${lamp}`, another, "PUT", { power: "on" });
      assert.equal(write.status, 200);
      await stream.ended;
      assert.deepEqual(stream.events, []);
    });
  });
}
