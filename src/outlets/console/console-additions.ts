import type { ConsolePage, PageContext } from "./console-page.ts";

/** What a program that embeds the service adds to the console, as the demo does. `breezeway serve` adds nothing. */
export interface ConsoleAdditions {
  /** A word beside the name of the product, on every page. */
  readonly badge?: string;
  /** How a person comes in, on the pages that ask for a password. */
  readonly entryHint?: string;
  /** Pages that follow the overview. */
  readonly pages: readonly AddedPage[];
}

/** A page whose forms may do more than calls of /admin/v1. It works, looks and stays live as all others. */
export interface AddedPage extends ConsolePage {
  /** Rules of style that only this page needs. */
  readonly style?: string;
  /**
   * Does what a form asks for that is sent to the address of the page. Returns the page to show, or why nothing was
   * done. Only operators who may change the page's subject come here.
   */
  act?(
    form: (name: string) => string,
    context: PageContext,
  ): Promise<{ readonly to: string } | { readonly refusal: string }>;
}

export const noAdditions: ConsoleAdditions = { pages: [] };
