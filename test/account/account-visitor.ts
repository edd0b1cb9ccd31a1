import assert from "node:assert/strict";
import { LinkVisitor, type LinkWorld } from "../link-sessions/link-world.ts";
import { ada } from "../oauth/oauth-world.ts";
import { type FilledIn, formOf, type ScriptedBrowser, type Shown } from "../oauth/scripted-browser.ts";

interface AccountWorld extends Pick<LinkWorld, "tenantId"> {
  browser(): ScriptedBrowser;
}

/** A user at the account page, with a browser without script. */
export class AccountVisitor {
  readonly browser: ScriptedBrowser;
  readonly address: string;

  constructor(world: AccountWorld, tenantId: number = world.tenantId) {
    this.browser = world.browser();
    this.address = `/account/${tenantId}`;
  }

  open(query = ""): Promise<Shown> {
    return this.browser.get(this.address + query);
  }

  /** Sends the sign-in form. */
  async sendSignIn(person: { readonly name: string; readonly password: string } = ada, change: FilledIn = {}) {
    const page = await this.open();
    return this.browser.submit(formOf(page), { username: person.name, password: person.password, ...change });
  }

  /** Signs in, and returns the account page. */
  async signIn(person?: { readonly name: string; readonly password: string }): Promise<Shown> {
    const sent = await this.sendSignIn(person);
    assert.deepEqual([sent.status, sent.location], [303, this.address], sent.body);
    return this.open();
  }

  /** Presses a button of the account page. */
  async press(act: FilledIn): Promise<Shown> {
    return this.browser.submit(formOf(await this.open()), act);
  }

  /** Presses a button, and confirms on the page that asks for it. */
  async confirm(act: FilledIn, more: FilledIn = {}): Promise<Shown> {
    const question = await this.press(act);
    assert.equal(question.status, 200, question.body);
    return this.browser.submit(formOf(question), { decision: "confirm", ...more });
  }

  get cookie(): string | undefined {
    return [...this.browser.cookies].find(([name]) => /^breezeway-account-\d+$/.test(name))?.[1];
  }
}

type Linking = Pick<LinkWorld, "tokenOf" | "baseUrl" | "accounts"> & {
  create(token: string): Promise<{ readonly url: string }>;
};

/** Links the home Maple Street of ada. */
export async function linkMaple(world: Linking): Promise<void> {
  const { url } = await world.create(await world.tokenOf());
  const linked = await new LinkVisitor(() => world.baseUrl).link(url, world.accounts.maple);
  assert.match(linked.body, /Your home is connected/);
}
