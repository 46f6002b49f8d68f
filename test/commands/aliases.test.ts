import { expect, test } from 'vitest';
import { findCommand } from '../../src/commands/registry.ts';
import { parseWords } from '../../src/commands/words.ts';

test.each([
  // What an on-call engineer types at night.
  ['why is shop failing', 'errors', 'shop'],
  ['Why is shop failing?', 'errors', 'shop'],
  ['why is the zone shop failing since yesterday', 'errors', 'shop since yesterday'],
  ['why is the shop zone failing since this morning', 'errors', 'shop since this morning'],
  ['since when is shop failing', 'errors', 'shop'],
  ['when did shop break', 'errors', 'shop'],
  ['why is nothing working', 'errors', ''],
  ['monday', 'errors', 'monday'],
  ['why does checkout fail', 'errors', 'checkout'],
  ['why are images down', 'errors', 'images'],
  ['why is shop not working', 'errors', 'shop'],
  ['is shop down?', 'errors', 'shop'],
  ['what is wrong with shop', 'errors', 'shop'],
  ['what’s wrong with shop', 'errors', 'shop'],
  ['shop is down', 'errors', 'shop'],
  ['shop errors', 'errors', 'shop'],
  ['shop failing', 'errors', 'shop'],
  ['what is failing', 'errors', ''],
  ['which zones are failing?', 'errors', ''],
  ['failing', 'errors', ''],
  ['502 shop', 'errors', 'shop'],
  // One zone, all zones.
  ['status shop', 'zone', 'shop'],
  ['status of shop', 'zone', 'shop'],
  ['how is shop doing', 'zone', 'shop'],
  ['show me shop', 'zone', 'shop'],
  ['show me all zones', 'zones', ''],
  ['list zones', 'zones', ''],
  ['get zones', 'zones', ''],
  ['pull zones', 'zones', ''],
  ['show errors for shop', 'errors', 'for shop'],
  ['show me the errors of shop', 'errors', 'of shop'],
  ['list my approvals', 'approvals', ''],
  ['show alerts', 'alert', ''],
  ['what changed', 'changes', ''],
  ['what changed in shop', 'changes', 'shop'],
  ['who changed shop', 'changes', 'shop'],
  ['what needs attention', 'zones', 'only:attention'],
  ['problems', 'zones', 'only:attention'],
  ['billing shop', 'zones', 'sort:charges shop'],
  ['limits', 'zones', 'only:above-80'],
  ['tls', 'zones', 'only:old-tls'],
  ['suspended zones', 'zones', 'only:suspended'],
  ['biggest zones', 'zones', 'sort:bandwidth'],
  ['zones without logging', 'zones', 'only:no-logging'],
  ['zones near their limit', 'zones', 'only:above-80'],
  // Changes.
  ['set FEATURE_X on', 'variable', 'FEATURE_X'],
  ['set variable FEATURE_X to off', 'variable', 'FEATURE_X'],
  ['turn on FEATURE_X', 'variable', 'FEATURE_X'],
  ['disable FEATURE_X', 'variable', 'FEATURE_X'],
  ['undo', 'variable', 'undo'],
  ['undo my last change', 'variable', 'undo'],
  ['delete volume data of app a1b2c3', 'volume', 'delete a1b2c3 data'],
  ['delete a volume', 'volume', 'delete'],
  ['delete the volume old-cache', 'volume', 'delete old-cache'],
  ['pending', 'approvals', ''],
  ['my requests', 'approvals', ''],
  // Reports, exports, rights.
  ['alerts', 'alert', ''],
  ['watch', 'alert', ''],
  ['incidents', 'alert', ''],
  ['schedule', 'digest', ''],
  ['daily digest', 'digest', 'new daily'],
  ['create an alert for errors shop', 'alert', 'new errors shop'],
  ['version', 'doctor', ''],
  ['shield', 'export', ''],
  ['shield in #ops', 'export', 'in #ops'],
  ['malware', 'scanning', ''],
  ['FEATURE_X', 'variable', 'FEATURE_X'],
  ['shop traffic', 'zones', 'sort:bandwidth shop'],
  ['who am i', 'whoami', ''],
  ['am I an admin?', 'whoami', ''],
  ['can I delete volumes', 'why', 'delete volumes'],
  ['log out', 'disconnect', ''],
  ['anything to approve?', 'approvals', ''],
  // Questions with other words.
  ['is shop ok?', 'errors', 'shop'],
  ['is everything ok', 'zones', 'only:attention'],
  ['whats up with shop', 'errors', 'shop'],
  ['zones failing', 'errors', ''],
  ['what broke', 'errors', ''],
  ['who broke shop', 'changes', 'shop'],
  ['bandwidth of shop', 'zones', 'sort:bandwidth shop'],
  ['how much traffic', 'zones', 'sort:bandwidth'],
  ['how much does it cost', 'zones', 'sort:charges'],
  ['tell me when shop fails', 'alert', 'new shop fails'],
  ['let me know if shop is down', 'alert', 'new shop is down'],
  ['which certs expire soon', 'alert', 'new certificate ends'],
  ['weekly digest of shop at 8:30', 'digest', 'new weekly shop at 8:30'],
  ['stop my alert', 'alert', 'list'],
  ['snooze', 'alert', ''],
  ['cancel my export', 'export', 'list'],
  ['who is admin', 'settings', ''],
  ['what may I do here', 'help', ''],
  ['what can you do?', 'help', ''],
  ['how do I set a variable', 'help', 'set a variable'],
  ['hi', 'help', ''],
  ['My permissions', 'whoami', ''],
  ['forget my key', 'disconnect', ''],
])('“%s” runs %s with “%s”', (typed, name, text) => {
  const found = findCommand(parseWords(typed));
  expect([found.command.name, found.words.text]).toEqual([name, text]);
});

test.each([
  // The name of a command comes before a sentence.
  ['why errors', 'why'],
  ['status', 'whoami'],
  ['can volume delete', 'why'],
  ['help failing', 'help'],
  ['audit errors', 'audit'],
  ['zone errors', 'zone'],
  // Several meanings are offered.
  ['cert', 'unknown'],
  ['logs', 'unknown'],
  ['log 501', 'unknown'],
  ['script 501', 'unknown'],
])('“%s” stays %s', (typed, name) => {
  expect(findCommand(parseWords(typed)).command.name).toBe(name);
});

test('a sentence that names a channel is shown there', () => {
  const { command, words } = findCommand(parseWords('why is shop failing in <#C0OPS0000|ops>'));
  expect([command.name, command.showsOthers, words.text]).toEqual(['errors', true, 'shop']);
});
