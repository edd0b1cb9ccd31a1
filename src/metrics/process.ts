import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Registry } from "./registry.ts";

/** Adds metrics of the process; those that every Prometheus client has carry the usual names. The returned function stops the measuring. */
export function measureProcess(registry: Registry): () => void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  registry.gauge(
    "breezeway_event_loop_delay_seconds",
    "The delay of the event loop since the last collection, by quantile.",
    () => {
      const seconds = (nanoseconds: number) => (Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0);
      const quantiles = [
        [{ quantile: "0.5" }, seconds(delay.percentile(50))],
        [{ quantile: "0.99" }, seconds(delay.percentile(99))],
        [{ quantile: "1" }, seconds(delay.max)],
      ] as const;
      delay.reset();
      return quantiles;
    },
    "summary",
  );
  registry.gauge(
    "process_cpu_seconds_total",
    "Processor time used, in all threads.",
    () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
    "counter",
  );
  registry.gauge("process_resident_memory_bytes", "Memory in use.", () => process.memoryUsage.rss());
  registry.gauge("process_heap_bytes", "Memory in use by objects.", () => process.memoryUsage().heapUsed);
  registry.gauge("process_start_time_seconds", "When the process began.", () =>
    Math.round(performance.timeOrigin / 1000),
  );
  return () => delay.disable();
}
