import { formOf, ScriptedBrowser, type Shown } from "../../oauth/scripted-browser.ts";
import type { Target } from "./attack.ts";
import { type Answer, sendRequest } from "./requests.ts";

interface LinkPlan {
  readonly mode: "link" | "renew";
  readonly ecosystem?: string;
}

/** The page of a link session, on which the attacker is signed in and goes on to the ecosystem. */
export class LinkPage {
  readonly #url: string;
  readonly #path: string;
  readonly #fields: Readonly<Record<string, string>>;
  readonly #headers: Readonly<Record<string, string>>;

  private constructor(url: string, connect: Shown, headers: Readonly<Record<string, string>>) {
    const { action, fields } = formOf(connect);
    this.#url = url;
    this.#path = pathOf(action);
    this.#fields = fields;
    this.#headers = headers;
  }

  static async open(
    { url, accessToken: token, person }: Target,
    { mode, ecosystem = "home" }: LinkPlan,
  ): Promise<LinkPage> {
    const json = { ecosystem, mode };
    const made = await sendRequest(url, { path: "/v3/link-sessions", token, json });
    if (made.status !== 201) throw new Error(`no link session: ${made.status} ${made.text}`);
    const browser = new ScriptedBrowser(() => url);
    const path = pathOf(JSON.parse(made.text).url);
    const login = await browser.get(path);
    await browser.submit(formOf(login), { username: person.name, password: person.password });
    const cookie = () => [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    return new LinkPage(url, await browser.get(path), { cookie: cookie() });
  }

  /**
   * Goes to the ecosystem, and comes back with a code that the attacker invented. Returns the page of the session when the
   * service has asked the ecosystem for a credential and for the home. `left` is called before that.
   */
  async exchange(address: string, left: () => void): Promise<Answer> {
    const { location = "" } = await this.submit(address);
    const state = new URL(location, this.#url).searchParams.get("state") ?? "";
    left();
    await this.#get(`/link/callback?${new URLSearchParams({ code: "any", state })}`);
    return this.#get(`${this.#path}?wait=true`);
  }

  #get(path: string): Promise<Answer> {
    return sendRequest(this.#url, { path, headers: this.#headers });
  }

  /** Sends the form with an address. */
  submit(address: string): Promise<Answer> {
    const form = { ...this.#fields, decision: "continue", address };
    return sendRequest(this.#url, { path: this.#path, form, headers: this.#headers });
  }
}

/** The status of a page with the problem that it shows, or with its title. */
export function shownProblem({ status, text }: Answer): string {
  const [, problem] = /role="alert".*?<span>([^<]*)/.exec(text) ?? [];
  const [, title = ""] = /<title>([^<]*)/.exec(text) ?? [];
  return `${status} ${problem ?? title}`.trim();
}

/** Whether a page says that the home is connected. */
export function isConnected({ text }: Answer): boolean {
  return /<title>[^<]*is connected/.test(text);
}

/** Behind a proxy the address names the service itself. */
function pathOf(address: string): string {
  const { pathname, search } = new URL(address, "http://any.example");
  return pathname + search;
}
