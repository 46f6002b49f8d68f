import { probes, renderFindings } from '../../views/doctor.ts';
import type { Feature } from '../define.ts';

export const doctor: Feature = {
  name: 'doctor',
  commands: [
    {
      name: 'doctor',
      aliases: ['diagnose', 'health'],
      usage: 'doctor',
      summary: 'Checks this bot: what is wrong here, and how to fix it',
      examples: ['doctor'],
      needs: 'admin',
      shares: 'never',
      async *run(_words, { doctor: service, person, now }) {
        // Each answer replaces the one before: private answers show whether they take charts and tables, and none stays.
        await service.retryNativeBlocks(person);
        yield* Object.values(probes);
        yield renderFindings(await service.examine(person), now());
      },
    },
  ],
};
