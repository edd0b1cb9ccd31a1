import { BadParameter } from "../model/errors.ts";

/** A tenant's logo as a browser gets it. */
export interface Logo {
  readonly type: LogoType;
  readonly bytes: Buffer;
}

export type LogoType = "image/png" | "image/jpeg" | "image/webp" | "image/svg+xml";

export const largestLogoBytes = 64 * 1024;

/** Encodes a logo for the store. Refuses files that are not pictures. */
export function storedLogo(file: Uint8Array): string {
  const bytes = Buffer.from(file);
  if (bytes.length > largestLogoBytes) refuse(`The logo must have at most ${largestLogoBytes / 1024} kB.`);
  return `${typeOf(bytes)};base64,${bytes.toString("base64")}`;
}

export function readLogo(stored: string): Logo {
  const [type, encoded] = stored.split(";base64,");
  return { type: type as LogoType, bytes: Buffer.from(encoded ?? "", "base64") };
}

/** Detects the media type by the file's first bytes, not by its name. */
function typeOf(bytes: Buffer): LogoType {
  const startsWith = (...beginning: readonly number[]) => beginning.every((byte, at) => bytes[at] === byte);
  if (startsWith(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return "image/png";
  if (startsWith(0xff, 0xd8, 0xff)) return "image/jpeg";
  if (bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WEBP") return "image/webp";
  const text = bytes.toString("utf8").replace(/^\uFEFF/, "");
  if (/^\s*(<\?xml[^>]*\?>\s*)?(<!--.*?-->\s*)*<svg[\s>]/s.test(text)) {
    checkSvg(text);
    return "image/svg+xml";
  }
  return refuse("The logo must be a PNG, JPEG, WebP or SVG picture.");
}

/**
 * Refuses SVGs with active content: opened on its own, an SVG can run scripts and load other resources. A "plain SVG" of
 * a drawing program passes.
 */
function checkSvg(text: string): void {
  const forbidden: readonly (readonly [RegExp, string])[] = [
    [/<!(doctype|entity)/i, "a document type"],
    [/<\?(?!xml\s)/i, "a processing instruction"],
    [/<([^\s<>"'/]*:)?(script|foreignobject|iframe|object|embed|handler|listener)\b/i, "scripts or foreign content"],
    // An animation can change the address of a link.
    [/<([^\s<>"'/]*:)?(animate\w*|set)\b/i, "animations"],
    [/[\s"'/]on\w+\s*=/i, "event handlers"],
    [/\bhref\s*=\s*(?!["']\s*(#|data:image\/(png|jpeg|webp);))/i, "references to other places"],
    [/url\s*\(\s*(?!["']?\s*#)|@import/i, "references to other places"],
    [/\\/, "backslashes, which can hide such things"],
  ];
  const found = forbidden.find(([pattern]) => pattern.test(text));
  if (found) refuse(`The SVG holds ${found[1]}. Save it as a plain SVG, or take a PNG.`);
}

function refuse(sentence: string): never {
  throw new BadParameter("logo", sentence);
}
