import { summaryOf } from "../client/answer-summary.ts";
import type { Answered, Deployment } from "../client/deployment.ts";
import { formOf } from "../client/deployment.ts";
import { claim, type Finding } from "../outcome.ts";
import { type Form, readForm } from "./form.ts";
import type { Visitor } from "./visitor.ts";

const mostRedirects = 5;

/** Signs in with a password, as a person would with a browser that runs no script: pages, forms and cookies. */
export function scriptedVisitor(
  deployment: Deployment,
  person: { readonly name: string; readonly password: string },
): Visitor {
  return {
    async authorize(address, decision) {
      const tab = new Tab(deployment);
      const login = formWith(await tab.get(address), ["username", "password"], "login page");
      const terms = await tab.send(login, { username: person.name, password: person.password });
      const form = readForm(terms.text);
      claim(!form?.names.includes("password"), () => ({
        seen: `The login page came again after the password was sent (${summaryOf(terms)}).`,
        side: "client",
        next: "Check the user's name and password, that the user is of the client's tenant, and that cookies pass.",
      }));
      const decided = await tab.send(formWith(terms, ["decision"], "terms page"), { decision }, false);
      claim(decided.status === 302 && decided.location !== "", () => ({
        seen: `The answer to the terms was ${summaryOf(decided)}, not a 302 to the client.`,
        ...pagesAtFault,
      }));
      return new URL(decided.location, deployment.url);
    },
  };
}

const pagesAtFault = {
  side: "between",
  next: "Open the authorization address in a browser and look at what is shown; a proxy must pass cookies and redirects on.",
} as const satisfies Omit<Finding, "seen">;

function formWith(shown: Answered, names: readonly string[], what: string): Form {
  const form = readForm(shown.text);
  claim(shown.status === 200 && form !== undefined && names.every((name) => form.names.includes(name)), () => ({
    seen: `There was no ${what} with ${names.join(" and ")}: ${summaryOf(shown)}.`,
    ...pagesAtFault,
  }));
  return form;
}

/** One tab of a browser: keeps the deployment's cookies, and follows redirects as long as they stay there. */
class Tab {
  readonly #deployment: Deployment;
  readonly #cookies = new Map<string, string>();

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  get(address: string): Promise<Answered> {
    return this.#follow(address, {});
  }

  send({ action, hidden }: Form, filledIn: Readonly<Record<string, string>>, follows = true): Promise<Answered> {
    const init = { method: "POST", body: formOf({ ...hidden, ...filledIn }) };
    return follows ? this.#follow(action, init) : this.#request(action, init);
  }

  async #follow(address: string, init: RequestInit): Promise<Answered> {
    let answer = await this.#request(address, init);
    for (let hops = 0; this.#staysHere(answer) && hops < mostRedirects; hops++) {
      answer = await this.#request(answer.location, {});
    }
    return answer;
  }

  #staysHere({ status, location }: Answered): boolean {
    if (status < 300 || status >= 400 || location === "") return false;
    return new URL(location, this.#deployment.url).origin === new URL(this.#deployment.url).origin;
  }

  async #request(address: string, init: RequestInit): Promise<Answered> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const whole = String(new URL(address, this.#deployment.url));
    const answer = await this.#deployment.call(whole, { ...init, headers: cookie === "" ? {} : { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^\s*([^=;]+)=([^;]*)/.exec(line) ?? [];
      if (value === "" || /;\s*max-age=0\b/i.test(line)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return answer;
  }
}
