import { accentProblem } from "../model/contrast.ts";
import { BadParameter, NotFound } from "../model/errors.ts";
import type { TenantId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { BrandRow } from "../store/tables/tenants.ts";
import { type Logo, readLogo, storedLogo } from "./logo.ts";
import { checkNewName, readName, readText } from "./names.ts";

/** The branding of a tenant's pages, and the terms that its users accept. */
export interface Brand {
  readonly tenantName: string;
  /** "#rrggbb", with enough contrast (accentProblem). */
  readonly accent: string | undefined;
  /** An https address. */
  readonly supportUrl: string | undefined;
  readonly hasLogo: boolean;
  readonly terms: Terms | undefined;
}

export interface Terms {
  readonly text: string;
  readonly version: string;
  /** Since when the terms are valid. */
  readonly dateMs: number;
  /** Whether users must accept these terms again. */
  readonly isRequired: boolean;
  /** When refreshes of grants without the required terms end; undefined for never. */
  readonly refreshesEndMs: number | undefined;
}

/** Whether the present terms must be accepted, and until when. */
export interface TermsAcceptance {
  readonly isRequired: boolean;
  readonly refreshesEndMs?: number | undefined;
}

/** Undefined members stay unchanged; null removes a value. */
export interface NewBrand {
  readonly accent?: string | null | undefined;
  readonly supportUrl?: string | null | undefined;
  readonly logo?: Uint8Array | null | undefined;
}

export interface Brands {
  brandOf(tenantId: TenantId): Promise<Brand>;
  logoOf(tenantId: TenantId): Promise<Logo | undefined>;
  setBrand(tenantId: TenantId, brand: NewBrand): Promise<void>;
  /** Null removes the terms, undefined keeps them. */
  setTerms(
    tenantId: TenantId,
    terms: { readonly text: string; readonly version: string } | null | undefined,
    acceptance?: TermsAcceptance,
  ): Promise<void>;
}

export const longestTermsBytes = 64 * 1024;
const longestUrl = 2_000;

export function brandsOn(store: Store<Pick<Transaction, "tenants">>): Brands {
  return {
    async brandOf(tenantId) {
      const row = await store.read((tx) => tx.tenants.brand(tenantId));
      if (!row) throw new NotFound(`There is no tenant ${tenantId}. See all with: breezeway tenant list`);
      const { tenantName, accent, supportUrl, hasLogo } = row;
      return {
        tenantName,
        accent: accent ?? undefined,
        supportUrl: supportUrl ?? undefined,
        hasLogo,
        terms: termsOf(row),
      };
    },
    async logoOf(tenantId) {
      const stored = await store.read((tx) => tx.tenants.logo(tenantId));
      return stored === undefined ? undefined : readLogo(stored);
    },
    async setBrand(tenantId, { accent, supportUrl, logo }) {
      const change = {
        accent: checkIfSet(accent, checkAccent),
        supportUrl: checkIfSet(supportUrl, checkSupportUrl),
        logo: checkIfSet(logo, storedLogo),
      };
      await store.transaction((tx) => tx.tenants.setBrand(tenantId, change));
    },
    async setTerms(tenantId, terms, acceptance) {
      const checked = terms && { text: checkTerms(terms.text), version: checkVersion(terms.version) };
      await store.transaction(async (tx) => {
        if (checked !== undefined) await tx.tenants.setTerms(tenantId, checked);
        if (!acceptance) return;
        const { isRequired, refreshesEndMs = null } = acceptance;
        if (isRequired && (await tx.tenants.brand(tenantId))?.termsMs == null) {
          throw new BadParameter(
            "require-acceptance",
            "The tenant has no terms that could be accepted. Set them first.",
          );
        }
        await tx.tenants.requireTerms(tenantId, isRequired, refreshesEndMs);
      });
    },
  };
}

function termsOf({ terms, termsVersion, termsMs, requiredTermsMs, termsDeadlineMs }: BrandRow): Terms | undefined {
  if (terms === null) return undefined;
  return {
    text: terms,
    version: termsVersion ?? "",
    dateMs: termsMs ?? 0,
    isRequired: requiredTermsMs !== null,
    refreshesEndMs: termsDeadlineMs ?? undefined,
  };
}

function checkIfSet<Value>(
  value: Value | null | undefined,
  check: (value: Value) => string,
): string | null | undefined {
  if (value === null) return null;
  return value === undefined ? undefined : check(value);
}

/** In lower case, so that each colour has one spelling. */
function checkAccent(accent: string): string {
  const problem = accentProblem(accent);
  if (problem) throw new BadParameter("accent", problem);
  return accent.toLowerCase();
}

/** The address becomes a link on the pages, so it must be https. */
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

/** Normalises line ends, and refuses control characters. */
function checkTerms(terms: string): string {
  const text = readText("terms", terms)
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
