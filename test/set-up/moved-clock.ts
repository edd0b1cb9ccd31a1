/** Run first in a child process, it lets that process live CLOCK_MOVED_MS later than everybody else. */
const { now } = Date;
const movedMs = Number(process.env.CLOCK_MOVED_MS);
Date.now = () => now() + movedMs;
