import { once } from "node:events";
import { Worker } from "node:worker_threads";

export type FileWork = "rebuild" | "truncate";

/** Works on the database file from a thread of its own, so that reads go on. No writer may be at work meanwhile. */
export async function workOnFile(file: string, work: FileWork): Promise<void> {
  const worker = new Worker(new URL("./file-worker.ts", import.meta.url), { workerData: { file, work } });
  const [answer] = (await once(worker, "message")) as [{ readonly message?: string; readonly errcode?: number }];
  if (answer.message !== undefined) throw Object.assign(new Error(answer.message), { errcode: answer.errcode });
}
