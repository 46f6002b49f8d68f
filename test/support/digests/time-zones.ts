// Everywhere that clocks do something of their own, and places where they do nothing.
export const timeZones = `
  Europe/Vienna Europe/London Europe/Dublin Europe/Lisbon Europe/Istanbul Europe/Moscow Europe/Kyiv
  Europe/Chisinau Atlantic/Azores America/New_York America/Chicago America/Denver America/Los_Angeles
  America/Anchorage America/Adak America/St_Johns America/Halifax America/Havana America/Santiago
  America/Asuncion America/Sao_Paulo America/Caracas America/Nuuk America/Mexico_City America/Scoresbysund
  Africa/Cairo Africa/Casablanca Africa/Johannesburg Asia/Amman Asia/Beirut Asia/Gaza Asia/Jerusalem
  Asia/Kathmandu Asia/Kolkata Asia/Tehran Asia/Tokyo Australia/Lord_Howe Australia/Sydney Pacific/Auckland
  Pacific/Chatham Pacific/Easter Pacific/Kiritimati Antarctica/Troll Africa/El_Aaiun Asia/Pyongyang
  Australia/Eucla UTC
`
  .trim()
  .split(/\s+/u);

/** A clock on the wall, read from the machine's own tables and by nothing of ours: `2026-03-29 02:30`. */
export function createWallClock(zone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  return (at) => format.format(at);
}
