// Slack's date tokens and message times, in the zone of this browser, which is the reader's.

const day = 86_400_000;
const format = (date, options) => new Intl.DateTimeFormat('en-GB', options).format(date);

const dateOnly = (date) => format(date, { year: 'numeric', month: '2-digit', day: '2-digit' });

/** 'today', 'yesterday' or 'tomorrow' in the reader's zone, else what `otherwise` says. */
function pretty(date, otherwise) {
  for (const [offset, word] of [
    [0, 'today'],
    [-1, 'yesterday'],
    [1, 'tomorrow'],
  ]) {
    if (dateOnly(date) === dateOnly(new Date(Date.now() + offset * day))) return word;
  }
  return otherwise(date);
}

const long = (date) => format(date, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const short = (date) => format(date, { day: 'numeric', month: 'short', year: 'numeric' });
const plain = (date) => format(date, { day: 'numeric', month: 'long', year: 'numeric' });

function ago(date) {
  const seconds = Math.round((date.getTime() - Date.now()) / 1000);
  const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  for (const [unit, size] of [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ]) {
    if (Math.abs(seconds) >= size) return words.format(Math.round(seconds / size), unit);
  }
  return words.format(seconds, 'second');
}

const tokens = {
  date_num: (date) =>
    format(date, { year: 'numeric', month: '2-digit', day: '2-digit' }).split('/').reverse().join('-'),
  date_slash: (date) => dateOnly(date),
  date_long: long,
  date_long_full: long,
  date_long_pretty: (date) => pretty(date, long),
  date_short: short,
  date_short_pretty: (date) => pretty(date, short),
  date: plain,
  date_pretty: (date) => pretty(date, plain),
  time: (date) => format(date, { hour: '2-digit', minute: '2-digit' }),
  time_secs: (date) => format(date, { hour: '2-digit', minute: '2-digit', second: '2-digit' }),
  ago,
  day_divider_pretty: (date) => pretty(date, long),
};

/** Fills Slack's `{date} at {time}` for a time in Unix seconds; undefined where a token or the time is unknown. */
export function slackDate(seconds, pattern) {
  const date = new Date(Number(seconds) * 1000);
  if (Number.isNaN(date.getTime())) return undefined;
  let known = true;
  const text = pattern.replaceAll(/\{(\w+)\}/g, (_, token) => {
    const write = tokens[token];
    if (!write) known = false;
    return write ? write(date) : '';
  });
  return known ? text : undefined;
}

/** When a message was written, from its `ts`: the hour and minute, and the whole for a tooltip. */
export function messageTime(ts) {
  const date = new Date(Number(ts) * 1000);
  return {
    short: tokens.time(date),
    whole: `${long(date)} ${tokens.time_secs(date)}`,
    day: pretty(date, long),
  };
}
