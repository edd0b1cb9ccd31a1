import { once } from "node:events";
import { Worker } from "node:worker_threads";

export type FileWork = "rebuild" | "truncate";

/** Runs the work in a thread of its own, so that reads continue. The caller must hold the commit queue. */
export async function workOnFile(file: string, work: FileWork): Promise<void> {
  const worker = new Worker(new URL("./file-worker.ts", import.meta.url), { workerData: { file, work } });
  const [answer] = (await once(worker, "message")) as [{ readonly message?: string; readonly errcode?: number }];
  if (answer.message !== undefined) throw Object.assign(new Error(answer.message), { errcode: answer.errcode });
}
