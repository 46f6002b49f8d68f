import { expect, onTestFinished, test } from 'vitest';
import { openForm, saveSettings, submitForm, waitForEnd } from '../commands/exports/bot.ts';
import { says } from '../commands/exports/words.ts';
import { prepareEngines } from '../support/engines.ts';
import { prepareKilledBot } from '../support/killed-bot.ts';
import { alice, ops } from '../support/people.ts';
import { startBotProcess } from '../support/process.ts';

const { postgres } = await prepareEngines();

interface Line {
  readonly pid: number;
  readonly msg: string;
  readonly reference?: string;
  readonly feature?: string;
  readonly job?: string;
  readonly operation?: string;
  readonly method?: string;
}

const readLines = (output: string): Line[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);

test.skipIf(postgres.skip)(
  'one reference joins a form, the jobs it enqueues and their requests, in the logs of two processes',
  async () => {
    const { slack, cdn, env, connect, stop } = await prepareKilledBot(await postgres.createLocation());
    const [web, worker] = [startBotProcess(env, 'web'), startBotProcess(env, 'worker')];
    onTestFinished(async () => {
      await Promise.all([web.kill('SIGKILL'), worker.kill('SIGKILL')]);
      await stop();
    });
    await Promise.all([web.waitForOutput('"ready"'), worker.waitForOutput('"ready"')]);
    await connect(alice, ops);
    await saveSettings(slack, { operators: [alice] });
    const person = slack.as(alice, ops);
    await openForm(person);
    await submitForm(person);
    await waitForEnd(slack, `D${alice}`, says.posted());
    await worker.waitForOutput(/"job":"export".*"job done"/);
    await web.waitForOutput(/"event-logs:submit".*"delivery done"/);
    const lines = readLines(web.output() + worker.output());
    const form = lines.find(({ feature, msg }) => feature === 'event-logs:submit' && msg === 'delivery done');
    expect(form?.reference).toMatch(/^[2-9A-Z]{8}$/);
    const joined = lines.filter(({ reference }) => reference === form?.reference);
    expect(new Set(joined.map(({ pid }) => pid)).size).toBe(2);
    const done = joined.filter(({ msg }) => msg === 'job done').map(({ job }) => job);
    expect(done).toEqual(expect.arrayContaining(['deliver-message', 'export']));
    expect(joined.map(({ operation }) => operation)).toContain('Export Event Logs as CSV');
    expect(joined.map(({ method }) => method)).toEqual(
      expect.arrayContaining(['chat.postMessage', 'files.completeUploadExternal']),
    );
    // Another delivery has another one, and what a person reads of a failure is the same.
    cdn.faults.add({ match: { path: /pullzone/ }, status: 401, times: 1 });
    await person.slash('zones');
    const failed = await person.waitForMessage(/Reference/);
    const shown = /Reference (\w{8})/.exec(failed.reads)?.[1];
    expect(shown).not.toBe(form?.reference);
    const told = await web.waitForOutput(new RegExp(`"reference":"${shown}".*"delivery done"`));
    const own = readLines(told).filter(({ reference }) => reference === shown);
    expect(own.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['CDN request', 'CDN request failed']));
  },
);
