import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, rmdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of its own, small enough to be filled. */
export interface SmallDisk {
  readonly path: string;
  /** Leaves no space at all, or so many bytes. */
  fill(leavingBytes?: number): void;
  /** Gives all the space back that `fill` took. */
  empty(): void;
  unmount(): Promise<void>;
}

/** Mounting is root's on Linux; elsewhere a test that needs a full disk takes its own way round. */
export function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const probe = mkdtempSync(join(tmpdir(), "breezeway-disk-"));
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", probe]).status === 0;
  if (isMounted) spawnSync("umount", [probe]);
  rmdirSync(probe);
  return isMounted;
}

/** Unmounts when its standard input closes, so that the mount goes with the test process however that ends. */
const keeper = `
  mount -t tmpfs -o "size=$SIZE" tmpfs "$PLACE" || exit 1
  echo mounted
  read -r _
  umount -l "$PLACE"; rmdir "$PLACE"`;

export async function smallDisk(megabytes: number): Promise<SmallDisk> {
  const path = mkdtempSync(join(tmpdir(), "breezeway-disk-"));
  const keeping = spawn("sh", ["-c", keeper], {
    env: { ...process.env, SIZE: `${megabytes}m`, PLACE: path },
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  const ended = once(keeping, "exit");
  const mounted = once(keeping.stdout, "data");
  await Promise.race([mounted, ended.then(([code]) => Promise.reject(new Error(`mount ended with ${code}`)))]);
  const ballast = join(path, "ballast");
  return {
    path,
    fill(leavingBytes = 0) {
      rmSync(ballast, { force: true });
      const { bavail, bsize } = statfsSync(path);
      appendFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - leavingBytes)));
    },
    empty: () => rmSync(ballast, { force: true }),
    async unmount() {
      keeping.stdin.end();
      await ended;
    },
  };
}
