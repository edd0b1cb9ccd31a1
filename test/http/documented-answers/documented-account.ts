import assert from "node:assert/strict";
import { accountPageId } from "../../../src/link-sessions/session-client.ts";
import { limits } from "../../../src/model/limits.ts";
import { formOf, ScriptedBrowser } from "../../oauth/scripted-browser.ts";
import { person } from "../../stories/world.ts";
import type { DocumentedWorld } from "./documented-world.ts";

/** Every documented answer of the account page. The user is linked already. */
export async function useAccount({ call, check, parts, baseUrl, userId }: DocumentedWorld): Promise<void> {
  const { tenantId } = await parts.identity.findUser(userId);
  const address = `/account/${tenantId}`;
  const browser = new ScriptedBrowser(() => baseUrl);
  check("chooseAccountTenant", 303, await browser.get("/account?company=Story"));
  check("chooseAccountTenant", 404, await browser.get("/account?company=Nobody"));
  const other = await parts.identity.addTenant({ name: "Another company" });
  check("chooseAccountTenant", 200, await browser.get("/account"));
  await parts.identity.removeTenant(other.tenantId);
  for (const operation of ["showAccount", "sendAccountSignIn", "sendAccountForm", "exportAccount"]) {
    await call(operation, 404, { at: "999" });
  }

  const login = await browser.get(address);
  check("showAccount", 200, login);
  const signIn = (username: string, password: string) => browser.submit(formOf(login), { username, password });
  check("sendAccountSignIn", 400, await signIn("", ""));
  let refused = await signIn("nobody at all", "wrong");
  check("sendAccountSignIn", 401, refused);
  while (refused.status === 401) refused = await signIn("nobody at all", "wrong");
  check("sendAccountSignIn", 429, refused);
  check("exportAccount", 303, await browser.get(`${address}/export`));
  check("sendAccountSignIn", 303, await signIn(person.name, person.password));
  const page = await browser.get(address);
  check("showAccount", 200, page);
  check("exportAccount", 200, await browser.get(`${address}/export`));

  const user = { userId, tenantId, name: person.name, createdMs: 0 };
  const running = (await parts.account.exportOf(user, "Story", "here"))[Symbol.asyncIterator]();
  await running.next();
  check("exportAccount", 429, await browser.get(`${address}/export`));
  await running.return?.();
  check("exportAccount", 200, await browser.get(`${address}/export`));

  const send = (fields: Readonly<Record<string, string>>) => browser.submit(formOf(page), fields);
  check("sendAccountForm", 400, await send({ csrf: "" }));
  check("sendAccountForm", 200, await send({ unlink: "nest" }));
  const renewing = await send({ renew: "nest" });
  check("sendAccountForm", 303, renewing);
  const { id } = await parts.linkSessions.createForAccount(user, { ecosystem: "nest", mode: "renew" });
  await parts.store.transaction(async (tx) => {
    const session = (await tx.linkSessions.find({ ownerId: userId, id }))!;
    assert.equal(session.clientId, accountPageId);
    for (let nth = 2; nth < limits.linkSessionsPerUser; nth++) {
      await tx.linkSessions.add({ ...session, id: `ls_account_${nth}`, tokenHash: `account ${nth}` });
    }
  });
  check("sendAccountForm", 409, await send({ renew: "nest" }));

  const carol = { tenant: "Story", name: "carol", password: "another word", isAdmin: false };
  await parts.identity.addUser(carol);
  const carols = new ScriptedBrowser(() => baseUrl);
  const entry = await carols.get(address);
  await carols.submit(formOf(entry), { username: carol.name, password: carol.password });
  const form = formOf(await carols.get(address));
  const remove = () => carols.submit(form, { deleteAccount: "yes", decision: "confirm", password: "wrong" });
  let wrong = await remove();
  check("sendAccountForm", 401, wrong);
  while (wrong.status === 401) wrong = await remove();
  check("sendAccountForm", 429, wrong);
}
