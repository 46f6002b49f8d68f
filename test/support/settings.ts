import type { Actor } from '../../simulator/slack/actor.ts';
import type { VisibleView } from '../../simulator/slack/views.ts';

const sections = {
  people: ['operators', 'operatorGroups', 'approvers', 'approverGroups'],
  approvals: ['destroyApprovals', 'changeApprovals', 'expiryMinutes', 'secondAdmin', 'approvalChannel'],
  channels: ['capNone', 'capRead', 'capExport', 'capChange', 'postChannels'],
  keeping: ['exportChannels', 'exportKeepDays'],
  assistant: ['assistant'],
} as const;

/** Opens the form that has this field. */
export async function openSettings(person: Actor, field: string): Promise<VisibleView> {
  const names = Object.entries(sections).find(([, fields]) => (fields as readonly string[]).includes(field));
  if (!names) throw new Error(`no form of the settings has the field ${field}`);
  await person.slash(`settings ${names[0]}`);
  return person.waitForModal('settings:submit');
}

/** Saves each form that has one of these fields, as an admin does; answers with the last outcome, which stays open. */
export async function saveSettings(person: Actor, values: Record<string, unknown>): Promise<VisibleView> {
  let outcome: VisibleView | undefined;
  for (const fields of Object.values(sections)) {
    const given = Object.entries(values).filter(([field]) => (fields as readonly string[]).includes(field));
    const [first] = given;
    if (!first) continue;
    while (person.modal()) await person.closeModal();
    await openSettings(person, first[0]);
    const { errors } = await person.submit(Object.fromEntries(given));
    if (errors) throw new Error(JSON.stringify(errors));
    outcome = await person.waitForModal('settings:done');
  }
  if (!outcome) throw new Error('no form of the settings has these fields');
  return outcome;
}

/** The same, and closes what is open. */
export async function configure(admin: Actor, values: Record<string, unknown>): Promise<void> {
  await saveSettings(admin, values);
  while (admin.modal()) await admin.closeModal();
}
