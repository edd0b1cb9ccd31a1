import assert from "node:assert/strict";
import { limits } from "../../../src/model/limits.ts";
import { LinkVisitor } from "../../link-sessions/link-world.ts";
import { formOf } from "../../oauth/scripted-browser.ts";
import { person } from "../../stories/world.ts";
import type { DocumentedWorld } from "./documented-world.ts";

/** Every documented answer of link sessions and their pages. The user is linked already. */
export async function useLinkSessions(world: DocumentedWorld, bearer: string): Promise<void> {
  const { call, check, parts, baseUrl } = world;
  const renewal = { ecosystem: "nest", mode: "renew" };
  await call("createLinkSession", 400, { bearer, json: {} });
  await call("createLinkSession", 400, { bearer, json: { ...renewal, ecosystem: "nowhere" } });
  await call("createLinkSession", 404, { bearer, json: { ...renewal, userId: 999 } });
  await call("createLinkSession", 409, { bearer, json: { ecosystem: "nest" } });
  const { id, url } = await call("createLinkSession", 201, { bearer, json: renewal });
  assert.equal((await call("getLinkSession", 200, { bearer, at: id })).status, "pending");
  await call("getLinkSession", 404, { bearer, at: "ls_nonsense" });

  await call("showLinkPage", 400, { at: "nonsense" });
  await call("receiveConsent", 400, { query: { state: "nonsense" } });
  await call("sendLinkSignIn", 400, { at: "nonsense" });
  await call("sendLinkDecision", 400, { at: "nonsense" });
  const visitor = new LinkVisitor(() => baseUrl);
  const login = await visitor.open(url);
  check("showLinkPage", 200, login);
  const signIn = (username: string, password: string) => visitor.browser.submit(formOf(login), { username, password });
  check("sendLinkSignIn", 401, await signIn(person.name, "wrong"));
  const bob = { tenant: "Story", name: "bob", password: "another word", isAdmin: false };
  const bobId = await parts.identity.addUser(bob);
  const company = { ...(await world.addClient("enterprise")), grant_type: "client_credentials" };
  const { access_token: companys } = await call("issueToken", 200, { json: company });
  await call("createLinkSession", 404, { bearer: companys, json: { ...renewal, userId: bobId } });
  check("sendLinkSignIn", 403, await signIn(bob.name, bob.password));
  let refused = await signIn("nobody", "wrong");
  while (refused.status === 401) refused = await signIn("nobody", "wrong");
  check("sendLinkSignIn", 429, refused);
  check("sendLinkSignIn", 303, await signIn(person.name, person.password));
  const connect = await visitor.open(url);
  const held = Promise.withResolvers<void>();
  const cause = { linkSession: id, user: "nobody", tenant: "none" };
  const waiting = Array.from({ length: 1 + limits.outgoingCallsWaitingPerUser }, () =>
    parts.outgoing.run(cause, () => held.promise),
  );
  check("sendLinkDecision", 429, await visitor.browser.submit(formOf(connect), { decision: "continue" }));
  held.resolve();
  await Promise.all(waiting);
  const left = await visitor.browser.submit(formOf(connect), { decision: "continue" });
  check("sendLinkDecision", 303, left);
  const { accountIds } = world.simulator;
  const callback = await visitor.consent(await visitor.open(left.location), accountIds()[0]!);
  check("receiveConsent", 303, await visitor.open(callback));
  await visitor.follow(await visitor.open(url));
  assert.equal((await call("getLinkSession", 200, { bearer, at: id })).status, "linked");

  // A node was killed during an exchange.
  const interrupted = await call("createLinkSession", 201, { bearer, json: renewal });
  const second = new LinkVisitor(() => baseUrl);
  await second.leave(await second.signIn(await second.open(interrupted.url), person));
  await parts.store.transaction(async (tx) => {
    const session = (await tx.linkSessions.lock({ ownerId: world.userId, id: interrupted.id }))!;
    await tx.linkSessions.save({ ...session, phase: "exchanging", claimedMs: 1 });
  });
  check("showLinkPage", 303, await second.open(interrupted.url));

  const session = await parts.store.read((tx) => tx.linkSessions.find({ ownerId: world.userId, id }));
  await parts.store.transaction(async (tx) => {
    for (let nth = 2; nth < limits.linkSessionsPerUser; nth++) {
      await tx.linkSessions.add({ ...session!, id: `ls_${nth}`, tokenHash: String(nth) });
    }
  });
  await call("createLinkSession", 409, { bearer, json: renewal });
}
