import { expect, test } from 'vitest';
import { findMeaning } from '../../src/commands/aliases.ts';
import { features, findCommand } from '../../src/commands/registry.ts';
import { parseWords } from '../../src/commands/words.ts';

/** What people type, by what it runs; `or:` is offered, and so is `no:`, with what the bot cannot do. */
const answers = `
alert ← ack / ack it / acknowledge / active incidents / alerts / current incidents / edit alert / firing
  alerts / incidents / is the incident over / list alerts / mute shop / mute the alert / my alerts /
  open incidents / resume my alert / show alerts / show me my alerts / silence alerts / snooze / snooze
  alert / snooze alerts for 1h / snooze it for 2 hours / stop alerts / stop my alert / turn off alerts /
  watch / stop notifying me / what is firing / which alerts are firing / who acknowledged
alert list ← I'm on it / is somebody already looking at shop
alert new ← create alert / new alert / set up an alert
alert new 5xx ← alert on 5xx
alert new certificate of shop ends ← alert when the certificate of shop ends
alert new errors ← notify me of errors
alert new errors go above 100 ← ping me if errors go above 100
alert new errors shop ← create an alert for errors shop
alert new shop ← alert for shop
alert new shop fails ← alert me when shop fails / I want to be notified when shop fails / tell me when shop fails / wake me up if shop fails
alert new shop has errors ← alert me if shop has errors
alert new shop is down ← I want an alert when shop is down / let me know if shop is down / please tell
  me when shop is down / notify #ops when shop is down
app ← apps / latency / list apps / show app
app checkout ← memory of app checkout
approvals ← anything to approve? / approve / approve it / approve request / approve the request / cancel
  my request / change the approvals / deny / do I have to approve something / is anything waiting for my
  approval / list my approvals / my pending requests / my requests / pending / what is waiting / what's
  waiting for me / where is my request
audit ← history
audit @U0BOB0000 ← what did <@U0BOB0000> do yesterday
audit @alice ← what did alice change
audit @bob ← what did @bob do / what did bob do / what did bob do yesterday / what has bob been doing
audit changes ← who approved the deletion / who deleted data / who deleted the volume / who did this /
  who did what
audit log ← show audit log
changes ← any changes / recent changes / what changed / what changed before the outage / did somebody
  change something
changes last hour ← what changed in the last hour
changes shop ← did the origin of shop change / last 5 changes of shop / last changes of shop / what changed in shop / who changed shop /
  did someone change shop
changes shop today ← did someone touch shop today
changes shop since yesterday ← what changed in shop since yesterday
changes shop yesterday ← who changed shop yesterday
changes this week ← what changed this week
changes today ← what changed today
changes yesterday ← what changed yesterday
compare shop and media ← difference between shop and media
compare shop media ← diff shop media
compare shop-staging shop ← shop-staging vs shop
connect ← log in / login
digest ← daily report / daily summary / delete my digest / digests / every morning at 9 a digest /
  morning report / pause digest / report of last week / reports / schedule / send a report every morning
  / send me a daily summary / show digests / weekly report of shop
digest new daily ← daily digest
digest new weekly ← weekly digest
digest new weekly shop at 8:30 ← weekly digest of shop at 8:30
disconnect ← delete my key / forget my key / log out / logout / remove my key
doctor ← health / ping / version / what version are you / is the bot ok / are you there?
errors 502 ← 502s / why 502
errors not 502 shop ← not 502 errors of shop
errors shop not 502 ← shop failures not 502 / shop not 502
errors 504 ← 504 gateway timeout / why are customers seeing 504
errors ← any errors? / anything failing? / cdn down / error / everything is broken / failing / how many
  errors / is anything down / is anything wrong / is everything down / is it down / is something broken /
  is the cdn down / latest errors / the website of our customer is not reachable / number of errors /
  origin down / recent errors / site down / slow / the site is down / top errors / users see errors /
  website is down / what broke / what is down / what is failing / what is wrong / what's broken / whats
  failing / whats going on / whats wrong / when did the errors start / which zones are failing? / why is
  it slow / why is nothing working / zones failing / zones with errors
errors 5xx ← why 5xx
errors checkout ← why does checkout fail
errors images ← are there any errors on images / images broken / why are images down
errors last 30 minutes ← last 30 minutes
errors last night ← what failed last night
errors last week ← last week
errors monday ← monday
errors prod ← prod is down
errors status ← why is status down
errors help ← why is help failing
errors shop 502 ← shop is giving 502 / 502 shop / lots of 502 on shop / shop 502s / why is shop returning
  502
errors shop 5xx ← 5xx on shop / shop 5xx
errors shop ← HELP shop is down / I'd like to see errors of shop / Why is shop failing? / any errors in
  shop / did anything change before shop failed / did shop recover / do you know why shop is down /
  gateway timeouts on shop / help shop is down / hey, why is shop failing? / hi shop is down / how long
  has shop been down / how many errors in shop / is shop back / is shop back to normal / is shop back up /
  is shop down? / is shop fixed / is shop ok? / origin timeout shop / shop down since when / shop errors /
  shop failing / shop is down / shop is failing / shop is slow / shop origin is down / shop slow / shop
  unreachable / shop's errors / shop’s failing? / show errors for shop / show me the errors of shop /
  since when is shop down / why is shop failing right now? / is shop down right now / since when is shop failing / what is going on with shop / what is wrong with
  shop / whats up with shop / what’s wrong with shop / when did shop break / who broke shop / why are
  there so many errors in shop / why is shop failing / why is shop not working / why is shop slow / zone
  shop errors / why shop fails / shop doesn't work / shop is not responding / shop won't load / errors →
  shop / errors: shop / errors|shop / errors—shop / TODO: errors shop / urgent: shop down / FYI: shop is down / shop down asap!! / URGENT shop is failing
  / customer says shop is slow / users can't reach shop
errors shop 503 ← shop returns 503
errors shop 504 ← getting 504 from shop
errors shp ← shp errors
errors shop 14h ← shop 14h
errors shop 10:00-11:00 CEST ← shop 10:00-11:00 CEST
errors shop week 46 to 47 ← shop week 46 to 47
errors shop yesterday noon ← shop yesterday noon
errors shop since 10:00 5xx ← shop has a lot of 5xx since 10:00
errors shop since this morning ← why is the shop zone failing since this morning
errors shop since yesterday ← why is the zone shop failing since yesterday
errors shop today ← shop today
errors yesterday evening ← yesterday evening
export ← csv / shield
export events ← download the shield events /  get me a csv of shield events
export in #ops ← shield in #ops
export list ← cancel export / cancel my export / list exports / my exports / where is my export / stop
  the export / where's my file / where is my csv
export logs ← give me the waf logs
export security ← security events
help ← commands / documentation / examples / feedback / good morning / hello bot / help me / hi /
  support / thank you! / thanks / what can I do / what can I do here / what can you do? / what may I do
  here / how does this work / what is this / getting started / thx / ok
help alerts ← help me with alerts
help connect ← how do I connect
help stop daily post ← how do I stop the daily post
help export ← how does export work
help set variable ← how do I set a variable
keys api ← api keys / api keys list
name ← list names / names
name app ← rename app
scanning ← malware / virus found? / virus scan / was malware uploaded
scanning results ← scan results
scanning upload ← upload scan / upload scanning
settings ← change settings / channels / config / configuration / preferences / set timezone / timezone /
  who are the admins / who can approve / who can approve my request / who can change settings / who can
  export / who is admin / who may do what / what can bob do / settings please
token ← mcp
variable ← change a variable / list variables / scripts / set a variable / set variable / variables
variable 301 ← what are the variables of script 301
variable 301 12 ← change variable 301 12 / set variable 12 of script 301
variable FEATURE_X ← FEATURE_X / FEATURE_X on / FEATURE_X=on / can you set FEATURE_X on? / disable
  FEATURE_X / enable FEATURE_X / flip FEATURE_X / flip FEATURE_X off / get FEATURE_X / set FEATURE_X on
  / set FEATURE_X to on please / set FEATURE_X=on / set variable FEATURE_X to off / show FEATURE_X /
  switch FEATURE_X off / toggle FEATURE_X / turn FEATURE_X on / turn on FEATURE_X / undo FEATURE_X /
  undo my change to FEATURE_X / value of FEATURE_X / what is FEATURE_X
variable undo ← revert / revert my change / rollback / undo / undo it / undo last change / undo my last
  change / undo please / undo the change / take it back / roll back the last change / oops
volume ← list volumes / volumes
volume delete ← I need to delete a volume / delete a volume / delete volume / remove a volume
volume delete a1b2c3 data ← delete volume data of app a1b2c3
volume delete a1b2c3 my-data ← delete volume my-data of app a1b2c3
volume delete a1b2c3 my-data-volume ← delete my-data-volume of app a1b2c3
volume delete app0worker00002 old-cache ← delete app0worker00002 old-cache / remove app0worker00002
  old-cache
volume delete checkout data ← remove volume data from app checkout
volume delete checkout v2 data ← delete volume data of checkout v2
volume delete data ← wipe volume data
volume delete old-cache ← delete the volume old-cache / remove the old-cache volume
whoami ← My permissions / am I an admin? / am i allowed / my permissions / permissions / status / who am
  i
why ← why was I refused
why approve ← can I approve
why bob approve ← may bob approve
why bob export ← can bob export / why can't bob export / is bob allowed to export
why delete volume ← may I delete a volume
why delete volumes ← can I delete volumes / why can I not delete volumes
why export ← am I allowed to export / may I export / why can't I export
why set variables ← why can’t i set variables
why volume delete ← can volume delete / can I delete old-cache
zone ← cache
zone cdn.example.com ← which zone is cdn.example.com
zone me shop ← show me shop
zone shop ← find zone shop / how is shop doing / status of shop / status shop / how's shop doing
zone shop caching ← caching shop / shop cached?
zone shop hostnames ← hostnames of shop / shop hostnames
zone shop origin ← origin of shop / what is the origin of shop / where does shop point to / what
  is the origin url of shop
zone shop rules ← rules of shop
zones ← all zones / get zones / how many zones / list all zones / list zones / pull zones / show me all
  zones / show zones / show me all the zones please / zone list
zones only:above-80 ← limits / zones close to their limit / which zones are near their limit / zones near limit / zones near their
  limit
zones only:attention ← all good? / how are we doing / how is everything / is everything ok / problems /
  what needs attention / worst zones / zones with problems
zones only:attention shop ← is shop having problems
zones only:disabled ← zones that are disabled
zones only:no-certificate ← zones without a certificate / zones without certificate
zones only:no-logging ← zones without logging
zones only:suspended ← suspended / suspended zones
zones script:301 ← zones of script 301
zones sort:bandwidth ← bandwidth / bandwidth this month / biggest zones / how much traffic / most
  traffic / top 10 zones / top zones / traffic today / traffic yesterday / which zone uses the most
  bandwidth / zones by bandwidth / zones sorted by bandwidth
zones sort:bandwidth shop ← bandwidth of shop / shop traffic / bandwidth usage for shop please
zones sort:charges ← how much did we spend / invoice / invoices / most expensive zone / what do we pay /
  forecast
zones sort:charges shop ← billing shop / how expensive is shop
no: alert new errors | alert list ← escalate / on call / oncall / who is on call / who's on call
no: digest list | alert list ← subscribe / unsubscribe
no: errors | alert new errors ← page bob / status page / statuspage / is bunny down
no: errors | zones ← share this in #ops
no: doctor | help ← report a bug / i found a bug
no: export list | approvals ← stop / quit / exit / never mind / nevermind
no: export | errors ← ban ip / block 1.2.3.4 / block an ip / geo block / rate limit / rate limiting /
  unblock ip / whitelist ip
no: help ← set language german
no: settings people | whoami ← access / add operator / give bob access / give me access / make bob
  operator / make me admin
no: variable | app ← deploy / deploy script / deployments / restart / restart app / scale app
no: variable | volume delete ← add a zone / create a zone / delete the zone shop / delete zone shop /
  disable zone shop / edit zone shop / enable zone shop / new zone / renew the certificate of shop
no: zone ← cache purge / clear cache / clear the cache / purge / purge cache
no: zone shop caching ← flush the cache of shop / purge shop
no: zones sort:bandwidth | errors | app ← 404 on shop / cache hit rate / chart / dashboard / graph / hit
  rate / hit ratio / metrics / response times / rps / requests per second / requests per second shop / statistics / stats / stats shop / storage /
  storage zones / 404s on shop
or: approvals | export list ← cancel
or: connect | whoami | keys ← api key / change key / change my key / create token / i lost my key / is
  my key connected / new key / revoke key / rotate key / rotate my key / whose key is this
or: errors last night | changes last night ← what happened last night
or: errors shop | changes shop ← whats happening with shop
or: errors shop | zone shop hostnames ← dns of shop / dns problem with the shop origin
or: alert | errors ← is it over / is it over yet / its over
or: errors | changes ← what happened / what is happening
or: export | errors shop | zones sort:bandwidth shop ← ddos on shop / is someone attacking shop
or: export | errors | zones sort:bandwidth ← are we being attacked? / are we under attack / attack /
  attacks / we are under attack
or: variable 501 | zones script:501 ← script 501
or: zone 501 logging | errors 501 | export 501 ← log 501
or: zone shop logging | errors shop | export shop ← logs of shop
or: zone | errors | export ← download logs / get logs / logs / show logs
or: zones only:no-certificate shop | zone shop hostnames ← is the cert of shop ok / shop cert / ssl shop
  / when does the certificate of shop expire /
  is the cert of shop expiring
or: zones only:no-certificate | zone ← cert / expired certs / which certs expire soon / when does the cert expire
or: zones only:old-tls | zone ← tls / zones with old tls
or: zones sort:charges shop | app shop ← cost of shop / how much does shop cost
or: zones sort:charges | app ← cost this month / how much does it cost
`;

const names = new Set(
  features.flatMap(({ commands }) => commands.flatMap(({ name, aliases = [] }) => [name, ...aliases])),
);

const rows = answers.replaceAll('\n  ', ' ').trim().split('\n');
test.each(rows.map((row) => row.split(' ← ') as [string, string]))('%s ← %s', (answer, typed) => {
  for (const line of typed.split(' / ')) expect(`${line}: ${readAnswer(line)}`).toBe(`${line}: ${answer}`);
});

function readAnswer(line: string): string {
  const { command, words } = findCommand(parseWords(line));
  if (command.name !== 'unknown') return [command.name, words.text].join(' ').trim();
  const meaning = findMeaning(words, (word) => names.has(word));
  const offered = meaning?.commands.map(({ text }) => text).join(' | ');
  return `${meaning?.note ? 'no' : 'or'}: ${offered}`;
}

test.each([
  // The name of a command comes before a sentence.
  ['why errors', 'why'],
  ['status', 'whoami'],
  ['can volume delete', 'why'],
  ['help failing', 'help'],
  ['audit errors', 'audit'],
  ['zone errors', 'zone'],
  ['rename app app0api00000001 checkout', 'name'],
])('“%s” stays %s', (typed, name) => {
  expect(findCommand(parseWords(typed)).command.name).toBe(name);
});

test('a sentence that names a channel is shown there', () => {
  const { command, words } = findCommand(parseWords('why is shop failing in <#C0OPS0000|ops>'));
  expect([command.name, command.showsOthers, words.text]).toEqual(['errors', true, 'shop']);
});
