import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { FileHandle } from "node:fs/promises";

/**
 * A backup is one tar file (POSIX ustar), so that `tar` can look into it when Breezeway isn't at hand. Only plain files
 * by plain names; what else a tar may hold is refused.
 */
export interface ArchivedFile {
  readonly name: string;
  readonly bytes: number;
  /** Where its content begins. */
  readonly at: number;
}

const block = 512;
/** What fits in the eleven octal digits of a header; larger sizes are written in binary, as GNU tar does. */
const mostOctal = 0o77_777_777_777;

export async function writeContent(to: FileHandle, name: string, content: Buffer, timeMs: number): Promise<void> {
  await writeAll(to, header(name, content.length, timeMs));
  await writeAll(to, content);
  await writeAll(to, padding(content.length));
}

/** Copies a file in; tells how many bytes it has copied so far. */
export async function writeFile(
  to: FileHandle,
  name: string,
  file: { readonly path: string; readonly bytes: number },
  timeMs: number,
  tell: (bytes: number) => void,
): Promise<void> {
  await writeAll(to, header(name, file.bytes, timeMs));
  let copied = 0;
  for await (const chunk of createReadStream(file.path, { highWaterMark: 1 << 20 })) {
    await writeAll(to, chunk as Buffer);
    copied += (chunk as Buffer).length;
    tell(copied);
  }
  if (copied !== file.bytes) throw new Error(`${name} changed while it was archived`);
  await writeAll(to, padding(copied));
}

export async function writeEnd(to: FileHandle): Promise<void> {
  await writeAll(to, Buffer.alloc(2 * block));
}

/** What is in an archive, by name. Throws NoArchive when it isn't one, or doesn't end as one. */
export async function listArchive(from: FileHandle): Promise<ReadonlyMap<string, ArchivedFile>> {
  const { size } = await from.stat();
  const files = new Map<string, ArchivedFile>();
  const bytes = Buffer.alloc(block);
  for (let at = 0; ; ) {
    const { bytesRead } = await from.read(bytes, 0, block, at);
    if (bytesRead < block) throw new NoArchive();
    if (bytes.every((byte) => byte === 0)) return files;
    const file = readHeader(bytes, at + block);
    if (file.at + file.bytes > size) throw new NoArchive();
    files.set(file.name, file);
    at = file.at + Math.ceil(file.bytes / block) * block;
  }
}

export async function readContent(from: FileHandle, file: ArchivedFile): Promise<Buffer> {
  const content = Buffer.alloc(file.bytes);
  for (let done = 0; done < content.length; ) {
    const { bytesRead } = await from.read(content, done, content.length - done, file.at + done);
    if (bytesRead === 0) throw new NoArchive();
    done += bytesRead;
  }
  return content;
}

/** Copies a file out and answers its digest. */
export async function extractFile(from: FileHandle, file: ArchivedFile, to: FileHandle): Promise<string> {
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(1 << 20);
  for (let done = 0; done < file.bytes; ) {
    const { bytesRead } = await from.read(chunk, 0, Math.min(chunk.length, file.bytes - done), file.at + done);
    if (bytesRead === 0) throw new NoArchive();
    const piece = chunk.subarray(0, bytesRead);
    hash.update(piece);
    await writeAll(to, piece);
    done += bytesRead;
  }
  return hash.digest("hex");
}

export async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

export function digestOfBytes(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export class NoArchive extends Error {}

/**
 * Writes all bytes. The system may take only some of them, without an error, when the disk or a limit is nearly
 * reached; the write of the rest then fails with the reason.
 */
async function writeAll(to: FileHandle, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await to.write(bytes, done, bytes.length - done);
    done += bytesWritten;
  }
}

function header(name: string, size: number, timeMs: number): Buffer {
  const bytes = Buffer.alloc(block);
  const octal = (value: number, at: number, digits: number) =>
    bytes.write(value.toString(8).padStart(digits, "0"), at, "latin1");
  bytes.write(name, 0, 100, "latin1");
  octal(0o600, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  if (size <= mostOctal) octal(size, 124, 11);
  else {
    bytes.writeUInt8(0x80, 124);
    bytes.writeBigUInt64BE(BigInt(size), 128);
  }
  octal(Math.floor(timeMs / 1000), 136, 11);
  bytes.write("0", 156, "latin1");
  bytes.write("ustar\u000000", 257, "latin1");
  octal(checksum(bytes), 148, 6);
  bytes.write("\0 ", 154, "latin1");
  return bytes;
}

function readHeader(bytes: Buffer, at: number): ArchivedFile {
  const textAt = (from: number, length: number) => bytes.toString("latin1", from, from + length).replace(/\0.*$/s, "");
  const isPlain = ["0", ""].includes(textAt(156, 1)) && textAt(257, 5) === "ustar" && textAt(345, 155) === "";
  if (!isPlain || Number.parseInt(textAt(148, 8), 8) !== checksum(bytes)) throw new NoArchive();
  const size = bytes[124] === 0x80 ? Number(bytes.readBigUInt64BE(128)) : Number.parseInt(textAt(124, 12), 8);
  if (!Number.isSafeInteger(size) || size < 0) throw new NoArchive();
  return { name: textAt(0, 100), bytes: size, at };
}

/** Counted as if its own place held spaces. */
function checksum(bytes: Buffer): number {
  return bytes.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

function padding(size: number): Buffer {
  return Buffer.alloc((block - (size % block)) % block);
}
