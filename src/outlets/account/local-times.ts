/** Writes the times of the page in the reader's zone; their titles keep UTC. Without it the page names UTC. */
export const localTimes = `for(const time of document.querySelectorAll("time[data-local]")){
const date=new Date(time.dateTime),day=new Intl.DateTimeFormat("en-GB",{dateStyle:"long"}).format(date);
time.textContent=time.dataset.local==="day"?day:new Intl.DateTimeFormat("en-GB",{timeStyle:"short"}).format(date)+", "+day}`;
