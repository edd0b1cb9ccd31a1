import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { FileHandle } from "node:fs/promises";

/**
 * A backup is one tar file (POSIX ustar), so that an operator can read it with `tar` alone. It holds only regular files
 * without folders; all other kinds of tar entries are refused.
 */
export interface ArchivedFile {
  readonly name: string;
  readonly bytes: number;
  /** Where its content begins in the archive, in bytes. */
  readonly offset: number;
}

const blockBytes = 512;
/** Offsets of the fields of a ustar header. */
const field = {
  name: 0,
  mode: 100,
  uid: 108,
  gid: 116,
  size: 124,
  time: 136,
  checksum: 148,
  type: 156,
  magic: 257,
  prefix: 345,
};
/** The largest size that fits in eleven octal digits. Larger sizes are written in binary, as GNU tar does. */
const largestOctal = 0o77_777_777_777;
/** The first byte of a size that is written in binary. */
const binarySize = 0x80;

export async function writeContent(to: FileHandle, name: string, content: Buffer, timeMs: number): Promise<void> {
  await writeAll(to, header(name, content.length, timeMs));
  await writeAll(to, content);
  await writeAll(to, padding(content.length));
}

/** Adds a file. `onProgress` gets the number of bytes that were copied so far. */
export async function writeFile(
  to: FileHandle,
  name: string,
  file: { readonly path: string; readonly bytes: number },
  timeMs: number,
  onProgress: (bytes: number) => void,
): Promise<void> {
  await writeAll(to, header(name, file.bytes, timeMs));
  let copied = 0;
  for await (const chunk of createReadStream(file.path, { highWaterMark: 1 << 20 })) {
    await writeAll(to, chunk as Buffer);
    copied += (chunk as Buffer).length;
    onProgress(copied);
  }
  if (copied !== file.bytes) throw new Error(`${name} changed while it was archived`);
  await writeAll(to, padding(copied));
}

export async function writeEnd(to: FileHandle): Promise<void> {
  await writeAll(to, Buffer.alloc(2 * blockBytes));
}

/** Lists the files of an archive by name. Throws InvalidArchive when it is no tar file, or its end is missing. */
export async function listArchive(from: FileHandle): Promise<ReadonlyMap<string, ArchivedFile>> {
  const { size } = await from.stat();
  const files = new Map<string, ArchivedFile>();
  const header = Buffer.alloc(blockBytes);
  for (let position = 0; ; ) {
    const { bytesRead } = await from.read(header, 0, blockBytes, position);
    if (bytesRead < blockBytes) throw new InvalidArchive();
    if (header.every((byte) => byte === 0)) return files;
    const file = readHeader(header, position + blockBytes);
    if (file.offset + file.bytes > size) throw new InvalidArchive();
    files.set(file.name, file);
    position = file.offset + Math.ceil(file.bytes / blockBytes) * blockBytes;
  }
}

export async function readContent(from: FileHandle, file: ArchivedFile): Promise<Buffer> {
  const content = Buffer.alloc(file.bytes);
  for (let done = 0; done < content.length; ) {
    const { bytesRead } = await from.read(content, done, content.length - done, file.offset + done);
    if (bytesRead === 0) throw new InvalidArchive();
    done += bytesRead;
  }
  return content;
}

/** Copies a file out of the archive and returns its SHA-256. */
export async function extractFile(from: FileHandle, file: ArchivedFile, to: FileHandle): Promise<string> {
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(1 << 20);
  for (let done = 0; done < file.bytes; ) {
    const { bytesRead } = await from.read(chunk, 0, Math.min(chunk.length, file.bytes - done), file.offset + done);
    if (bytesRead === 0) throw new InvalidArchive();
    const bytes = chunk.subarray(0, bytesRead);
    hash.update(bytes);
    await writeAll(to, bytes);
    done += bytesRead;
  }
  return hash.digest("hex");
}

export async function digestOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    signal.throwIfAborted();
    hash.update(chunk as Buffer);
  }
  return hash.digest("hex");
}

export function digestOfBytes(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export class InvalidArchive extends Error {}

/**
 * Writes all bytes. When the disk or a quota is nearly full, a write may take only a part of them without an error. The
 * write of the rest then fails with the reason.
 */
async function writeAll(to: FileHandle, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await to.write(bytes, done, bytes.length - done);
    done += bytesWritten;
  }
}

function header(name: string, size: number, timeMs: number): Buffer {
  const bytes = Buffer.alloc(blockBytes);
  const writeOctal = (value: number, at: number, digits: number) =>
    bytes.write(value.toString(8).padStart(digits, "0"), at, "latin1");
  bytes.write(name, field.name, 100, "latin1");
  writeOctal(0o600, field.mode, 7);
  writeOctal(0, field.uid, 7);
  writeOctal(0, field.gid, 7);
  if (size <= largestOctal) writeOctal(size, field.size, 11);
  else {
    bytes.writeUInt8(binarySize, field.size);
    bytes.writeBigUInt64BE(BigInt(size), field.size + 4);
  }
  writeOctal(Math.floor(timeMs / 1000), field.time, 11);
  bytes.write("0", field.type, "latin1");
  bytes.write("ustar\u000000", field.magic, "latin1");
  writeOctal(checksum(bytes), field.checksum, 6);
  bytes.write("\0 ", field.checksum + 6, "latin1");
  return bytes;
}

function readHeader(bytes: Buffer, offset: number): ArchivedFile {
  const textAt = (from: number, length: number) => bytes.toString("latin1", from, from + length).replace(/\0.*$/s, "");
  const isPlainFile =
    ["0", ""].includes(textAt(field.type, 1)) && textAt(field.magic, 5) === "ustar" && textAt(field.prefix, 155) === "";
  if (!isPlainFile || Number.parseInt(textAt(field.checksum, 8), 8) !== checksum(bytes)) throw new InvalidArchive();
  const size =
    bytes[field.size] === binarySize
      ? Number(bytes.readBigUInt64BE(field.size + 4))
      : Number.parseInt(textAt(field.size, 12), 8);
  if (!Number.isSafeInteger(size) || size < 0) throw new InvalidArchive();
  return { name: textAt(field.name, 100), bytes: size, offset };
}

/** The sum of all bytes of the header. The checksum field itself counts as eight spaces. */
function checksum(bytes: Buffer): number {
  const isOfChecksum = (at: number) => at >= field.checksum && at < field.type;
  return bytes.reduce((sum, byte, at) => sum + (isOfChecksum(at) ? 0x20 : byte), 0);
}

function padding(size: number): Buffer {
  return Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);
}
