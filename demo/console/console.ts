import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pageAnswer, redirectAnswer } from "../../src/http/answer/answer.ts";
import type { AddedRoute } from "../../src/http/routes.ts";
import { newSecret } from "../../src/identity/secrets.ts";
import { NotFound } from "../../src/model/errors.ts";
import type { ConsoleAdditions } from "../../src/outlets/console/console-additions.ts";
import { operatorCookie } from "../../src/outlets/console/operator-cookie.ts";
import type { Parts } from "../../src/service/parts.ts";
import type { Service } from "../../src/service/service.ts";
import { html } from "../../src/web/html.ts";
import { pageOf } from "../../src/web/page.ts";
import type { DemoAssistants } from "../assistants/assistants.ts";
import type { DemoEcosystem } from "../ecosystems/ecosystem.ts";
import type { House } from "../house.ts";
import { assistantsPage } from "./assistants/assistants-page.ts";
import type { OpenDemo } from "./open-demo.ts";
import { simulatorPage } from "./simulator-page.ts";
import { stepProgressIn } from "./step-progress.ts";

/** What the demo adds to the service: two pages of the console, and a link that opens the console without a password. */
export interface DemoConsole {
  readonly additions: ConsoleAdditions;
  addedRoutes(parts: Parts): readonly AddedRoute[];
  /** Until this call the pages say that there is no house yet. */
  open(opened: { readonly service: Service; readonly house: House; readonly assistants: DemoAssistants }): void;
  /** A new link that opens the console once. Earlier ones end. */
  newLink(): Promise<string>;
}

const operatorName = "olivia";
const firstPage = "/console/simulator";

export function demoConsole({
  folder,
  ecosystem,
}: {
  readonly folder: string;
  readonly ecosystem: DemoEcosystem;
}): DemoConsole {
  let opened: OpenDemo | undefined;
  const passwordFile = join(folder, "demo-operator-password");
  const redirect = (path: string, to: string): AddedRoute => ({
    methods: ["GET"],
    path,
    access: "public",
    errors: "page",
    answer: async () => redirectAnswer(302, to),
  });
  return {
    additions: {
      badge: "Test",
      entryHint: `In the demo, open the link beside "Console" in its terminal. It opens once; press Enter in its terminal for another. Or type the name ${operatorName} and the password in ${resolve(passwordFile)}.`,
      pages: [simulatorPage(() => opened), assistantsPage(() => opened)],
    },
    addedRoutes: ({ operators, address }) => [
      redirect("/", firstPage),
      redirect("/demo", firstPage),
      {
        methods: ["GET"],
        path: "/demo/",
        access: "public",
        errors: "page",
        async answer({ query, source, userAgent, disconnected }) {
          const claim = query.find(([name]) => name === "c")?.[1];
          if (claim === undefined) return redirectAnswer(302, firstPage);
          try {
            const password = passwordIn(passwordFile);
            const typed = { name: operatorName, password, tenant: "", source, userAgent, disconnected };
            const session = await operators.takeLink("claim", claim, typed);
            return pageAnswer(200, comeInPage, { "set-cookie": operatorCookie(() => address.baseUrl).set(session) });
          } catch (error) {
            // A browser that is signed in goes on; others come to the sign-in page, which has the hint.
            if (error instanceof NotFound) return redirectAnswer(303, firstPage);
            throw error;
          }
        },
      },
    ],
    open(openDemo) {
      opened = {
        ...openDemo,
        ecosystem,
        stepProgress: stepProgressIn(join(folder, "demo-steps"), Date.now(), ecosystem),
      };
    },
    async newLink() {
      const { baseUrl, parts } = opened!.service;
      return `${baseUrl}/demo/?c=${await parts.operators.claimLink()}`;
    },
  };
}

/** A page and not a redirect: browsers send the session's cookie only when a page of this service leads to the next. */
const comeInPage = pageOf({
  title: "Breezeway",
  brand: undefined,
  main: html`<p><a href="${firstPage}">Go to the console</a></p>`,
  continuesAt: firstPage,
});

/** The password of the demo's operator. It is random, because an owner may do everything. */
function passwordIn(file: string): string {
  if (!existsSync(file)) writeFileSync(file, newSecret("").slice(0, 24), { mode: 0o600 });
  return readFileSync(file, "utf8");
}
