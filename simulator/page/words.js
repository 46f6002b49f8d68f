// Texts that are no messages: notices of Slack (the app did not answer) and notes of the page. They carry no time
// of their own, so they stand where they were first seen.

const notes = new Map();
const noticed = new Map();
const seconds = () => Date.now() / 1000;

export function addNote(place, words) {
  const all = notes.get(place) ?? [];
  notes.set(place, [...all, { id: `${place} ${all.length}`, at: seconds(), kind: 'note', words }]);
}

/** Everything to show between the messages of a place; `notices` are what the server tells for this person, oldest first. */
export function wordsAt(place, user, notices) {
  const known = noticed.get(user) ?? [];
  for (let at = known.length; at < notices.length; at += 1) {
    known.push({ id: `${user} ${at}`, at: seconds(), kind: 'notice', words: notices[at], place });
  }
  noticed.set(user, known);
  return [...known.filter((one) => one.place === place), ...(notes.get(place) ?? [])];
}
