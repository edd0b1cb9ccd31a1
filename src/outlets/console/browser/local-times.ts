/** The service writes times in UTC. This writes them in the reader's zone; the title keeps UTC. */
const second = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayAndSecond = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const dayAndMinute = new Intl.DateTimeFormat("en-GB", {
  year: "numeric",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

export function showLocalTimes(): void {
  for (const time of document.querySelectorAll<HTMLTimeElement>("time[data-local]")) {
    if (!time.textContent?.endsWith(" UTC")) continue;
    const date = new Date(time.dateTime);
    time.textContent = time.dataset.local === "minute" ? dayAndMinute.format(date) : localClock(date);
  }
}

/** `14:04:31`, with the day unless it is today. */
export function localClock(date: Date): string {
  const isToday = date.toDateString() === new Date().toDateString();
  return (isToday ? second : dayAndSecond).format(date);
}
