import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // By default one core is left out: of two that is half, while the tests mostly wait for databases and bots.
    maxWorkers: '100%',
    globalSetup: ['test/support/database-templates.ts'],
    restoreMocks: true,
    unstubEnvs: true,
    // Two cores are the smallest machine this runs on; starting a database and a bot takes its time there.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // `npm test` runs the quick tests; `npm run test:long` those that start processes or browsers, simulate years or soak.
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          // Files share a worker's modules: loading the bot costs two seconds of processor time.
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.long.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: ['test/**/*.long.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
