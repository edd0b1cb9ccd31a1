import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import type { OperatorBrowser } from "../operators/operator-browser.ts";

export interface TabPlan {
  readonly scheme?: "light" | "dark";
  readonly width?: number;
  readonly javaScriptEnabled?: boolean;
}

/** A tab in which the operator is signed in, or nobody when the browser has no cookie. Afterwards the browser must have refused nothing that the pages asked of it. */
export async function operatorTab(
  browser: Browser,
  { world }: { readonly world: { readonly baseUrl: string } },
  { cookie }: OperatorBrowser,
  { scheme = "light", width = 1440, javaScriptEnabled = true }: TabPlan,
  act: (tab: Page) => Promise<void>,
): Promise<void> {
  const viewport = { width, height: 844 };
  const context = await browser.newContext({
    viewport,
    colorScheme: scheme,
    javaScriptEnabled,
    baseURL: world.baseUrl,
  });
  try {
    const at = cookie.indexOf("=");
    const signedIn = { name: cookie.slice(0, at), value: cookie.slice(at + 1), url: world.baseUrl };
    if (cookie !== "") await context.addCookies([signedIn]);
    const complaints: string[] = [];
    context.on("console", (message) => {
      if (/Content Security Policy|Refused to|violates/i.test(message.text())) complaints.push(message.text());
    });
    context.on("weberror", (error) => complaints.push(String(error.error())));
    await act(await context.newPage());
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}
