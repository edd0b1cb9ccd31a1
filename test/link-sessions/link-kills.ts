import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { defaultClient } from "../../simulator/clients/clients.ts";
import { startSimulator } from "../../simulator/simulator.ts";
import { readConfig } from "../../src/config/config.ts";
import type { UserId } from "../../src/model/ids.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts } from "../../src/service/parts.ts";
import { freePort } from "../set-up/free-port.ts";
import { numbersFrom } from "../set-up/seeded-random.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";
import { type ChildService, startChild } from "../stories/child-service.ts";
import { LinkVisitor, titleOf } from "./link-world.ts";

export interface KillPlan {
  readonly seed: number;
  readonly rounds: number;
}

const sessionsAtOnce = 8;
/**
 * In each round the owners of some accounts come back from the ecosystem at the same time, and the service is killed
 * while it exchanges the codes and reads the homes. Then each user has a link exactly if the session says so, and every
 * owner can go on as soon as the service runs again.
 */
export async function killDuringLinkSessions(t: TestContext, { seed, rounds }: KillPlan): Promise<void> {
  const random = numbersFrom(seed);
  const world = await killableWorld(t, rounds);
  let interrupted = 0;
  for (let round = 0; round < rounds; round++) {
    const first = await world.start();
    const sessions = await Promise.all(world.users(round).map((userId) => world.comeBack(userId)));
    const coming = sessions.map(({ visitor, callback }) => visitor.arrive(callback).catch(() => undefined));
    await sleep(random() * 50);
    await settledOf(coming, Math.floor(random() * sessionsAtOnce));
    first.process.kill("SIGKILL");
    await Promise.all([first.ended, ...coming]);
    interrupted += world.assertOneTruth();

    const second = await world.start();
    await Promise.all(sessions.map((session) => world.finish(session)));
    second.process.kill("SIGKILL");
    await second.ended;
    assert.equal(world.assertOneTruth(), 0);
    assert.equal(world.links(), sessionsAtOnce * (round + 1));
  }
  assert.ok(interrupted > 0, "no kill met a session that was being linked");
  t.diagnostic(`${interrupted} of ${rounds * sessionsAtOnce} sessions were interrupted`);
}

/** Resolves when so many have settled. */
function settledOf(works: readonly Promise<unknown>[], count: number): Promise<void> {
  let left = count;
  return new Promise((resolve) => {
    if (left === 0) resolve();
    for (const work of works) {
      void work.then(() => {
        left -= 1;
        if (left === 0) resolve();
      });
    }
  });
}

interface Session {
  readonly userId: UserId;
  readonly id: string;
  readonly url: string;
  readonly visitor: LinkVisitor;
  readonly account: string;
  /** Where the ecosystem sends the browser with the code. */
  readonly callback: string;
}

async function killableWorld(t: TestContext, rounds: number) {
  const simulator = await startSimulator({ port: 0 });
  t.after(() => simulator.stop());
  const folder = await newDataFolder("breezeway-link-kills-");
  const nest = {
    protocol: "nest",
    apiUrl: simulator.url,
    authUrl: `${simulator.url}/login/oauth2`,
    tokenUrl: `${simulator.url}/oauth2/access_token`,
    clientId: defaultClient.clientId,
    clientSecret: defaultClient.clientSecret,
  };
  const environment = {
    BREEZEWAY_DATA: folder,
    BREEZEWAY_PORT: String(await freePort()),
    BREEZEWAY_LOG_LEVEL: "silent",
    BREEZEWAY_ECOSYSTEMS: JSON.stringify({ nest }),
  };
  const { users, form } = await prepared(environment, rounds * sessionsAtOnce);
  let service: ChildService;
  const baseUrl = () => service.baseUrl;
  const token = async () => {
    const answer = await fetch(`${baseUrl()}/oauth2/access_token`, { method: "POST", body: new URLSearchParams(form) });
    return ((await answer.json()) as { readonly access_token: string }).access_token;
  };
  const read = <Row>(query: string): Row[] => {
    const database = new DatabaseSync(join(folder, "breezeway.db"));
    try {
      return database.prepare(query).all() as Row[];
    } finally {
      database.close();
    }
  };
  const accountOf = () => simulator.addAccount({ structures: [{ name: "Maple Street", thermostats: 1 }] } as never);
  return {
    users: (round: number) => users.slice(round * sessionsAtOnce, (round + 1) * sessionsAtOnce),
    async start(): Promise<ChildService> {
      service = await startChild("serve", environment);
      t.after(() => service.process.kill("SIGKILL"));
      return service;
    },
    /** Makes a session whose owner has consented at the ecosystem. */
    async comeBack(userId: UserId): Promise<Session> {
      const created = await fetch(`${baseUrl()}/v3/link-sessions`, {
        method: "POST",
        headers: { authorization: `Bearer ${await token()}`, "content-type": "application/json" },
        body: JSON.stringify({ ecosystem: "nest", userId }),
      });
      const { id, url } = (await created.json()) as { readonly id: string; readonly url: string };
      const visitor = new LinkVisitor(baseUrl);
      const { accountId: account } = accountOf();
      const callback = await visitor.consent(await visitor.leave(await visitor.open(url)), account);
      return { userId, id, url, visitor, account, callback };
    },
    /** The owner opens the page again, and consents again if the page asks for it. */
    async finish({ url, visitor, account }: Session): Promise<void> {
      let page = await visitor.follow(await visitor.open(url));
      if (page.form) page = await visitor.arrive(await visitor.consent(await visitor.leave(page), account));
      assert.equal(titleOf(page), "Your home is connected", page.body);
    },
    /** Each user has a link exactly if the session is linked. Returns how many sessions were being worked on. */
    assertOneTruth(): number {
      const linked = read<{ user_id: number }>("SELECT user_id FROM links ORDER BY user_id");
      const sessions = read<{ user_id: number; phase: string }>(
        "SELECT user_id, phase FROM link_sessions ORDER BY user_id",
      );
      const ended = sessions.filter(({ phase }) => phase === "linked");
      assert.deepEqual(
        ended.map(({ user_id }) => user_id),
        linked.map(({ user_id }) => user_id),
      );
      return sessions.filter(({ phase }) => phase === "exchanging" || phase === "reading").length;
    },
    links: () => read("SELECT user_id FROM links").length,
  };
}

/** Users, and the form with which a client that vouches for them gets its token. */
async function prepared(environment: Record<string, string>, count: number) {
  const parts = await openParts(readConfig({ flags: {}, environment }), startLogging("silent"));
  try {
    const { identity, oauth } = parts;
    await identity.addTenant({ name: "Acme" });
    const users: UserId[] = [];
    for (let nth = 0; nth < count; nth++) {
      users.push(
        await identity.addUser({ tenant: "Acme", name: `owner ${nth}`, password: "a good password", isAdmin: false }),
      );
    }
    const { client, secret } = await oauth.addClient({
      tenant: "Acme",
      name: "Lantern",
      kind: "enterprise",
      redirectUris: [],
      requiresPkce: false,
      vouchesForUsers: true,
    });
    return { users, form: { grant_type: "client_credentials", client_id: client.id, client_secret: secret } };
  } finally {
    await parts.federation.stop();
    await parts.close();
  }
}
