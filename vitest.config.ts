import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/external/**', 'node_modules/**'],
    // By default one core is left out: of two that is half, while the tests mostly wait for databases and bots.
    maxWorkers: '100%',
    restoreMocks: true,
    unstubEnvs: true,
    // Two cores are the smallest machine this runs on; starting a database and a bot takes its time there.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
