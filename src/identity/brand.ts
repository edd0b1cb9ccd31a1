import { accentProblem } from "../model/contrast.ts";
import { BadParameter, NotFound } from "../model/errors.ts";
import type { TenantId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import { type Logo, readLogo, storedLogo } from "./logo.ts";
import { checkNewName, readName, readText } from "./names.ts";

/** How a tenant looks to its users, and what they agree to. */
export interface Brand {
  readonly tenantName: string;
  /** "#rrggbb", of which accentProblem has nothing to say. */
  readonly accent: string | undefined;
  /** An https address. */
  readonly supportUrl: string | undefined;
  readonly hasLogo: boolean;
  readonly terms: Terms | undefined;
}

export interface Terms {
  readonly text: string;
  readonly version: string;
  /** Since when they count. */
  readonly dateMs: number;
}

/** What is left out stays as it is; null takes it away. */
export interface NewBrand {
  readonly accent?: string | null | undefined;
  readonly supportUrl?: string | null | undefined;
  readonly logo?: Uint8Array | null | undefined;
}

export interface Brands {
  brandOf(tenantId: TenantId): Promise<Brand>;
  logoOf(tenantId: TenantId): Promise<Logo | undefined>;
  setBrand(tenantId: TenantId, brand: NewBrand): Promise<void>;
  /** Null takes them away. */
  setTerms(tenantId: TenantId, terms: { readonly text: string; readonly version: string } | null): Promise<void>;
}

export const longestTermsBytes = 64 * 1024;
const longestUrl = 2_000;

export function brandsOn(store: Store<Pick<Transaction, "tenants">>): Brands {
  return {
    async brandOf(tenantId) {
      const row = await store.read((tx) => tx.tenants.brand(tenantId));
      if (!row) throw new NotFound(`There is no tenant ${tenantId}. See all with: breezeway tenant list`);
      const { tenantName, accent, supportUrl, hasLogo, terms, termsVersion, termsMs } = row;
      return {
        tenantName,
        accent: accent ?? undefined,
        supportUrl: supportUrl ?? undefined,
        hasLogo,
        terms: terms === null ? undefined : { text: terms, version: termsVersion ?? "", dateMs: termsMs ?? 0 },
      };
    },
    async logoOf(tenantId) {
      const stored = await store.read((tx) => tx.tenants.logo(tenantId));
      return stored === undefined ? undefined : readLogo(stored);
    },
    async setBrand(tenantId, { accent, supportUrl, logo }) {
      const change = {
        accent: ifGiven(accent, checkAccent),
        supportUrl: ifGiven(supportUrl, checkSupportUrl),
        logo: ifGiven(logo, storedLogo),
      };
      await store.transaction((tx) => tx.tenants.setBrand(tenantId, change));
    },
    async setTerms(tenantId, terms) {
      const checked = terms && { text: checkTerms(terms.text), version: checkVersion(terms.version) };
      await store.transaction((tx) => tx.tenants.setTerms(tenantId, checked));
    },
  };
}

function ifGiven<Value>(value: Value | null | undefined, check: (value: Value) => string): string | null | undefined {
  if (value === null) return null;
  return value === undefined ? undefined : check(value);
}

/** In small letters, so that one colour has one spelling. */
function checkAccent(accent: string): string {
  const problem = accentProblem(accent);
  if (problem) throw new BadParameter("accent", problem);
  return accent.toLowerCase();
}

/** It becomes a link on the pages: one that leads to a page, over an encrypted connection. */
function checkSupportUrl(text: string): string {
  const url =
    /^https:\/\/[^/?#\\]/i.test(text) && /^[\x21-\x7e]+$/.test(text) && text.length <= longestUrl && URL.canParse(text)
      ? new URL(text)
      : undefined;
  if (url?.protocol !== "https:" || url.username || url.password) {
    throw new BadParameter(
      "support-url",
      `The support address must begin with https://, name no user, and have at most ${longestUrl} characters without spaces.`,
    );
  }
  return text;
}

/** As every page can show it: lines end in one way, and nothing is hidden between the letters. */
function checkTerms(given: string): string {
  const text = readText("terms", given)
    .replace(/^\uFEFF/, "")
    .replace(/\r\n?/g, "\n")
    .trim();
  if (text === "") throw new BadParameter("terms", "The terms must not be empty.");
  if (/[^\P{Cc}\n\t]/u.test(text)) {
    throw new BadParameter("terms", "The terms must be plain text: no control characters but line breaks and tabs.");
  }
  if (Buffer.byteLength(text) > longestTermsBytes) {
    throw new BadParameter("terms", `The terms must have at most ${longestTermsBytes / 1024} kB.`);
  }
  return text;
}

function checkVersion(version: string): string {
  return checkNewName("version", readName("version", version));
}
