// Notices of Slack (the app did not answer). They carry no time of their own, so they stand where they were first seen.

const noticed = new Map();
const seconds = () => Date.now() / 1000;

/** The notices to show between the messages of a place; `notices` are what the server tells for this person, oldest first. */
export function wordsAt(place, user, notices) {
  // Those of before the page was loaded are gone, as all that is private.
  const known = noticed.get(user) ?? notices.map(() => ({}));
  for (let at = known.length; at < notices.length; at += 1) {
    known.push({ id: `${user} ${at}`, at: seconds(), words: notices[at], place });
  }
  noticed.set(user, known);
  return known.filter((one) => one.place === place);
}
