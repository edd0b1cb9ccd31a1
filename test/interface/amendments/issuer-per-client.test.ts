import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runCommand } from "../../cli/run-command.ts";
import { ada, admin, callback, type OAuthWorld, oauthWorld } from "../../oauth/oauth-world.ts";
import { OperatorBrowser } from "../../operators/operator-browser.ts";
import { surfaceDatabases } from "../../set-up/deployment.ts";

/** The values of `iss` that a client gets with a code, with a refused request, and when the user declines. */
async function readIssuers(world: OAuthWorld, clientId: string): Promise<readonly (string | null)[]> {
  const change = { client_id: clientId };
  const refused = await world.browser().get(world.authorizeUrl({ ...change, response_type: "token" }));
  const returns = [
    await world.browser().authorize(world.authorizeUrl(change), ada),
    new URL(refused.location),
    await world.browser().authorize(world.authorizeUrl(change), ada, "decline"),
  ];
  return returns.map(({ searchParams }) => searchParams.get("iss"));
}

describe("settled: iss per client", () => {
  for (const database of surfaceDatabases) {
    it(`sends iss to every client but those that are registered without it (${database})`, async (t) => {
      const world = await oauthWorld(t, { database });
      const { id } = await world.addClient({ sendsIssuer: false });
      const own = world.baseUrl;
      assert.deepEqual(await readIssuers(world, world.client.id), [own, own, own]);
      assert.deepEqual(await readIssuers(world, id), [null, null, null]);
      const code = await world.code({ client_id: id });
      assert.notEqual(code, "");
      await world.service.parts.oauth.editClient(id, { sendsIssuer: true });
      assert.deepEqual(await readIssuers(world, id), [own, own, own]);
    });
  }

  it("sends none when an enterprise client without it is refused because the user is no administrator", async (t) => {
    const world = await oauthWorld(t);
    const { id } = await world.addClient({ kind: "enterprise", sendsIssuer: false });
    const { location } = await world.browser().signIn(world.authorizeUrl({ client_id: id }), ada);
    assert.deepEqual([...new URL(location).searchParams.keys()].sort(), ["error", "error_description", "state"]);
    const returned = await world.browser().authorize(world.authorizeUrl({ client_id: id }), admin);
    assert.deepEqual([...returned.searchParams.keys()].sort(), ["code", "state"]);
  });

  it("says in the metadata that iss is sent", async (t) => {
    const world = await oauthWorld(t);
    await world.addClient({ sendsIssuer: false });
    const { body } = await world.get("/.well-known/oauth-authorization-server");
    assert.equal(body.authorization_response_iss_parameter_supported, true);
  });

  it("is chosen by client add and client edit, here and with --service, and by /admin/v1", async (t) => {
    const world = await oauthWorld(t);
    const { administration } = world.service.parts;
    const owner = new OperatorBrowser(world.baseUrl);
    const { path } = (await administration.run("operator claim", {})) as { path: string };
    assert.equal((await owner.send(path, { name: "ada", password: "correct horse" })).status, 303);
    const made = await administration.run("operator token make", { operator: "ada", name: "laptop" });
    const { token } = made as { token: string };
    const here = { BREEZEWAY_DATA: world.folder };
    const elsewhere = { BREEZEWAY_OPERATOR_TOKEN: token, BREEZEWAY_SERVICE: world.baseUrl };
    const add = ["client", "add", "--tenant", "Acme", "--name", "Rules", "--redirect-uri", callback];
    for (const environment of [here, elsewhere]) {
      const run = async (...args: readonly string[]) => {
        const { code, stdout, stderr } = await runCommand([...args, "--json"], { environment });
        assert.equal(code, 0, stderr);
        return JSON.parse(stdout);
      };
      const { client_id: id } = await run(...add, "--no-issuer");
      assert.equal((await run("client", "show", id)).sends_issuer, false);
      assert.deepEqual(await readIssuers(world, id), [null, null, null]);
      await run("client", "edit", id, "--name", "Rules 2");
      assert.equal((await run("client", "show", id)).sends_issuer, false, "what is not named stays");
      assert.equal((await run("client", "edit", id, "--issuer")).sends_issuer, true);
      assert.equal((await run("client", "edit", id, "--no-issuer")).sends_issuer, false);
      const { client_id: usual } = await run(...add);
      assert.equal((await run("client", "show", usual)).sends_issuer, true);
    }
    const call = async (method: string, address: string, body?: object) => {
      const answer = await fetch(`${world.baseUrl}/admin/v1${address}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, string> };
    };
    const registration = { tenant: "Acme", name: "Rules", redirectUri: [callback], sendsIssuer: false };
    const added = await call("POST", "/clients", registration);
    assert.equal(added.status, 201);
    const client = `/clients/${added.body.client_id}`;
    assert.equal((await call("GET", client)).body.sends_issuer, false);
    assert.equal((await call("PATCH", client, { sendsIssuer: true })).body.sends_issuer, true);
    const wrong = await call("PATCH", client, { sendsIssuer: "no" });
    assert.deepEqual(
      [wrong.status, String(wrong.body.error_description).includes("sendsIssuer must be true or false")],
      [400, true],
    );
    assert.equal((await call("GET", client)).body.sends_issuer, true);
  });

  it("is chosen in the forms of the console", async (t) => {
    const world = await oauthWorld(t);
    const { administration } = world.service.parts;
    const owner = new OperatorBrowser(world.baseUrl);
    const { path } = (await administration.run("operator claim", {})) as { path: string };
    assert.equal((await owner.send(path, { name: "ada", password: "correct horse" })).status, 303);
    const form = await (await owner.get("/console/clients?do=add")).text();
    assert.match(form, /<select[^>]* name="issuer"[^>]*><option value="true" selected>/);
    const here = `/console/clients/${world.client.id}`;
    const edit = { act: "client edit", client: world.client.id, to: here, name: "Voice", "redirect-uri": callback };
    assert.equal((await owner.send("/console/do", { ...edit, issuer: "false" })).status, 303);
    assert.deepEqual(await readIssuers(world, world.client.id), [null, null, null]);
    const page = await (await owner.get(`${here}?do=edit`)).text();
    assert.match(page, /<option value="false" selected>is left out/);
    assert.equal((await owner.send("/console/do", { ...edit, issuer: "true" })).status, 303);
    assert.deepEqual(await readIssuers(world, world.client.id), Array(3).fill(world.baseUrl));
  });
});
