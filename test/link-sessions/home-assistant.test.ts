import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { owner } from "../../simulator/home-assistant/pages/login-page.ts";
import { startHomeAssistant } from "../../simulator/home-assistant/simulator.ts";
import { oauthWorld } from "../oauth/oauth-world.ts";
import { formOf } from "../oauth/scripted-browser.ts";
import { LinkVisitor, titleOf } from "./link-world.ts";

describe("a link page for accounts with addresses of their own", () => {
  it("asks for the address first, says what is wrong with it, and links the instance", async (t) => {
    const instance = await startHomeAssistant();
    t.after(() => instance.stop());
    const home = { protocol: "home-assistant", allowPrivateNetworks: true };
    const world = await oauthWorld(t, { environment: { BREEZEWAY_ECOSYSTEMS: JSON.stringify({ home }) } });
    const { access_token: token } = await world.tokens();
    const answer = await fetch(`${world.baseUrl}/v3/link-sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ ecosystem: "home" }),
    });
    const { id, url } = (await answer.json()) as { readonly id: string; readonly url: string };
    const visitor = new LinkVisitor(() => world.baseUrl);
    const connect = await visitor.signIn(await visitor.open(url));
    assert.match(connect.body, /<label for="address">/);
    for (const address of ["", "not an address", "http://127.0.0.1:9"]) {
      const refused = await visitor.browser.submit(formOf(connect), { decision: "continue", address });
      assert.equal(refused.status, 400, address);
      assert.match(refused.body, /role="alert"/);
    }
    const login = await visitor.leave(connect, { address: instance.url });
    const form = formOf(login);
    const action = new URL(form.action, login.url).href;
    const sent = await visitor.browser.submit({ ...form, action }, { username: owner.name, password: owner.password });
    const done = await visitor.arrive(sent.location);
    assert.equal(titleOf(done), "Your home is connected");
    assert.match(done.body, /1 thermostat/);
    assert.equal((await world.get(`/v3/link-sessions/${id}`, token)).body.status, "linked");
  });
});
