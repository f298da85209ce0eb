import type { Command } from 'commander'
import type { CommandHelp } from '../terminal/options.ts'
import { wrapText } from '../terminal/text.ts'

/** Commands about projects and places, by their words. */
const PLACE_HELP: Readonly<Record<string, CommandHelp>> = {
  init: {
    prints: 'the files it wrote, then the next commands, as they are typed here.',
    json: '{folder, written: [path], replaced: [path]}.',
    exits: {
      1: 'files it would write are there: they are listed, and nothing was written. A package.json that is there stays.',
    },
    examples: ['init brief', 'init . --force'],
  },
  'new dag': {
    prints: 'the file it wrote, and how to run it.',
    json: '{file, name, valid, blocks: [id]}.',
    exits: { 1: 'the file is there already; nothing was written.' },
    examples: ['new dag review --blocks read,check,publish', 'new dag review --from basic'],
  },
  'new gate': {
    prints: 'a gate to paste into a block, with what it decides in comments.',
    json: '{gate, type}: the gate as data.',
    examples: ['new gate long-enough --type min_length --port text'],
  },
  start: {
    prints: 'where it answers; then it logs until Ctrl-C. Runs go on at the next start.',
    json: 'one line when it is ready: {ready, url, pid, data_dir}, where callers need tokens also {login, first_tokens}, with --login {login, console_url, login_file}.',
    exits: { 1: 'port taken, folder in use, or a bad sluice.yaml.' },
    examples: ['start', 'start --port 0 --example', 'start --login'],
  },
  dev: {
    prints:
      'where it answers; at each save the files that were saved and what is wrong, as file:line:column, until Ctrl-C. The console shows the same. With --rerun the run that is started again, as `run start --watch`.',
    exits: { 1: 'port taken, folder in use, or the place ended by itself.' },
    examples: ['dev', 'dev --rerun --no-open'],
  },
  console: {
    prints:
      'the address of the page; where it holds a secret, whoever has it acts as you. Of a deployment, or a place that asks for a token, it is served here until Ctrl-C.',
    json: 'one line: {url}.',
    exits: { 1: 'no server there, no credentials for it, no such stack, or port taken.' },
    examples: ['console --open', 'console --stack dev --profile work --port 4042'],
  },
  doctor: {
    prints: 'a line a check: ok, warning, FAILED with what to do, or - where there is nothing to check.',
    json: '{ok, checks: [{name, state, says, fix?}]}; state is ok, warning, failed or skipped.',
    exits: { 100: 'a check failed. Warnings do not count.' },
    examples: ['doctor', 'doctor --json --url http://127.0.0.1:4040'],
  },
  completion: {
    prints: 'a script for the shell; the second line of it says where to put it.',
    examples: ['completion bash', 'completion zsh', 'completion fish'],
  },
  'slack manifest': {
    prints: 'the manifest of the Slack app, as JSON.',
    examples: ['slack manifest --url https://sluice.example.com'],
  },
  'token create': {
    prints: 'the text of the token alone, this once; about it on stderr.',
    json: '{token, token_id, tenant, name, scopes, state, created_at, created_by, expires_at}.',
    exits: { 1: 'you lack a scope it should have, or the tenant is not yours.' },
    examples: [
      'token create ci runs:read runs:write --days 30',
      'token create first admin:tokens runs:read runs:write --tenant acme',
    ],
  },
  'token list': {
    prints: 'a line a token: its id, whether it is valid and until when, its scopes and its name.',
    json: '{tokens: [{token_id, tenant, name, scopes, state, created_at, created_by, expires_at, revoked_at?, revoked_by?}]}.',
    examples: ['token list'],
  },
  'token revoke': {
    prints: 'whose token is revoked, since when and by whom.',
    json: '{token_id, tenant, name, scopes, state, created_at, created_by, expires_at, revoked_at, revoked_by}.',
    exits: { 1: 'there is none of this id.' },
    examples: ['token revoke 0v4x9k2m7q8r5t1w'],
  },
  'spending list': {
    prints:
      'a line a cap: what is used or reserved of it, whose runs it counts, when it opens again; and a line a raise.',
    json: '{caps: [{name, per, period, opens_at, tenant?, dag?, reached, usd?, tokens?, raises}]}.',
    examples: ['spending list'],
  },
  'spending raise': {
    prints: 'the cap as it is now.',
    json: '{cap: {name, per, period, opens_at, tenant?, dag?, reached, usd?, tokens?, raises}}.',
    exits: { 1: 'there is no such cap, it is in another unit, or it counts all tenants together.' },
    examples: ['spending raise daily --usd 20 --reason "backfill of November"'],
  },
  'stage export': {
    prints: 'how many runs, bodies and bytes are in the folder, how many of them came now, and what was left out.',
    json: '{folder, tenant, complete, runs, bodies, bytes, fetched: {runs, bodies}, left_out: [{what, why}]}.',
    exits: { 1: 'you lack scope stage:export, or the folder holds something else.' },
    examples: ['stage export copy-of-dev'],
  },
  'stage import': {
    prints: 'how many records were taken and how many were there already, and what was refused.',
    json: '{folder, tenant, taken, there, bodies, refused: [{id, code, message}]}.',
    exits: {
      1: 'something was refused, a file does not have its hash, the copy is not whole, or you lack scope stage:import.',
    },
    examples: ['stage import copy-of-dev'],
  },
  'triggers list': {
    prints: 'two lines a trigger: what fires it and when next, then its newest firing, failures and what was missed.',
    json: '{triggers: [{document, name, kind, says, url?, paused?, next?, waiting, failures, missed?, last?}], unsound: [name]}.',
    exits: { 1: 'the newest firing of one of them failed.' },
    examples: ['triggers list'],
  },
  'triggers show': {
    prints: 'the same of one trigger, its next times, and its newest firings.',
    json: '{trigger, next_times: [time], firings: [{id, at, state, run_id?, by?, ended_at?, tries, next_at?, reason?}], next_cursor}.',
    exits: { 1: 'there is no such trigger.' },
    examples: ['triggers show report/nightly'],
  },
  'triggers pause': {
    prints: 'that it is paused.',
    json: '{trigger, changed}.',
    exits: { 1: 'there is no such trigger.' },
    examples: ['triggers pause report/nightly --reason holidays'],
  },
  'triggers resume': {
    prints: 'that it goes on, and its next time.',
    json: '{trigger, changed}.',
    exits: { 1: 'there is no such trigger.' },
    examples: ['triggers resume report/nightly'],
  },
  'triggers fire': {
    prints: 'the run that is started.',
    json: '{firing: {id, at, state, run_id, by, tries}}.',
    exits: { 1: 'there is no such trigger, or its inputs cannot be computed of what was given.' },
    examples: ['triggers fire report/nightly', `triggers fire tickets/from-crm --body '{"id":7}'`],
  },
  'triggers try': {
    prints: 'the id of the firing, the inputs of its run, what is wrong, and the next times.',
    json: '{ok, id?, known, inputs, problems: [{code, message}], next_times: [time]}.',
    exits: { 1: 'no run would start.' },
    examples: ['triggers try report/nightly', 'triggers try tickets/from-crm --body @sample.json'],
  },
  'webhooks list': {
    prints: 'a line an endpoint: name, host or bus, and the events it is told of.',
    json: '{webhooks: [{name, host, events, dags?, keys, timeout_ms, give_up_sec}], buses: [{name, bus, events, dags?, give_up_sec}]}.',
    examples: ['webhooks list'],
  },
  'webhooks test': {
    prints: 'whether the webhook or bus took the message, and what it answered.',
    json: '{id, endpoint, delivered, status?, reason?}.',
    exits: { 1: 'it did not take it.' },
    examples: ['webhooks test billing'],
  },
  'webhooks dead': {
    prints: 'a line a message: its id, its event, how often it was tried and how the last try went.',
    json: '{dead: [{id, endpoint, run_id, seq, type, event_at, tries, last, delivered_at?}], next_cursor}.',
    examples: ['webhooks dead', 'webhooks dead --endpoint billing --limit 100'],
  },
  'webhooks replay': {
    prints: 'a line a message: whether its endpoint took it now.',
    json: '{replayed: [{id, endpoint, delivered, status?, reason?, dead}]}.',
    exits: { 1: 'one of them was not taken; it stays dead.' },
    examples: ['webhooks replay --endpoint billing', 'webhooks replay --all'],
  },
  mcp: {
    prints: 'nothing but the protocol: an MCP client starts it and talks to it (docs/mcp.md).',
    examples: ['mcp', 'mcp --url http://127.0.0.1:4040 --allow-approvals'],
  },
  deploy: {
    prints:
      'the stacks, what their roles may do, what they cost idle and for 1,000 runs, read in the templates; then it asks. What the CDK says goes to stderr.',
    exits: {
      1: 'no credentials, not bootstrapped, too few concurrent executions, nobody said yes, or the CDK failed; with --prove, something of its stage is left.',
      100: 'with --prove: a step did not hold.',
    },
    examples: ['deploy', 'deploy --stage prod --profile work --yes'],
  },
  destroy: {
    prints: 'what goes and what stays; the name of the stage is typed before anything does.',
    exits: { 1: 'no credentials, the name was not typed, or the CDK failed.' },
    examples: ['destroy --stage dev', 'destroy --stage dev --with-data --confirm dev'],
  },
  'rollout status': {
    prints: 'the release that is deployed, and which new runs begin with, since when and by whom.',
    json: '{deployed: {id, code}, routing: {percent, to, from?, at, by, taken_back?} or null}.',
    exits: { 1: 'no credentials, no such stage, or its releases are not gradual.' },
    examples: ['rollout status --stage dev', 'rollout status --json'],
  },
  'rollout shift': {
    prints: 'which new runs begin with what from now on; with --watch whether that is so at its end.',
    exits: { 1: 'as rollout status; it was taken back before, or while it was watched; nobody said yes.' },
    examples: ['rollout shift 10 --stage dev --watch 30 --yes', 'rollout shift 100'],
  },
  'rollout rollback': {
    prints: 'which new runs begin with what from now on.',
    exits: { 1: 'as rollout status; there is no release before; nobody said yes.' },
    examples: ['rollout rollback --stage dev --yes'],
  },
  'rollout prune': {
    prints: 'how many versions of functions there are, and how many were deleted.',
    exits: { 1: 'as rollout status; nobody said yes.' },
    examples: ['rollout prune --stage dev'],
  },
  logs: {
    prints: 'a line a logged line that names the run: time, function, level, message, facts; oldest first.',
    json: 'a line each: {at, group, text}; at is milliseconds since 1970.',
    examples: ['logs RUN --stage dev', 'logs RUN --stage prod --hours 72 --json'],
  },
  help: {
    prints: 'the help of the command these words name.',
    examples: ['help run start'],
  },
}

const RUN_ENDED = {
  1: 'the run failed or was cancelled.',
  3: 'the run ended partial or blocked.',
  130: 'stopped by Ctrl-C: it says how to go on.',
}
const PLANNED =
  'the newest 20 of the runs and how many there are; then asks, and says how many it was done to, or how far it is after 20 s.'
const BULK_JSON = 'POST /api/dag/bulk: {bulk, first} with --plan; else {bulk} as it is then.'
const BULK_REFUSED = {
  1: 'you did not say yes.',
  2: 'the search cannot be read: where, what was seen, and what may stand there.',
}
const STARTED =
  'the answer of the start: {run_id, dag_name, dag_hash, blocks, edges, links}; with --watch or --yes the run as it ended, as `run status --json`.'

/** Commands about runs and what people are asked, by their words. */
const RUN_HELP: Readonly<Record<string, CommandHelp>> = {
  'run start': {
    prints:
      'the run id and how to follow it; with --watch its progress, how it ended, outputs and artifacts. On a terminal it asks there what the run asks. With --quiet the one value the run was made for as it is, or one JSON object of several.',
    json: STARTED,
    exits: RUN_ENDED,
    examples: [
      'run start',
      'run start --example basic',
      'run start --example basic --input goal="a log reader" --watch',
      'run start dags/hello.yaml --yes',
    ],
  },
  'run graph': {
    prints: 'the graph with the state of each block, as Mermaid, DOT or SVG.',
    json: 'GET /api/dag/runs/{run_id}/graph: {nodes, edges, ..}.',
    examples: ['run graph RUN', 'run graph RUN --format svg > run.svg'],
  },
  'run goal': {
    prints: 'goal, trust, quality, a line a criterion, and what the next attempt is told.',
    json: 'GET /api/dag/runs/{run_id}/goal.',
    examples: ['run goal RUN'],
  },
  'run list': {
    prints:
      'a line a run: id, state, when it was created, DAG; of one that ended how long it took; tokens and price, where there are any. `More:` names the next page.',
    json: 'GET /api/dag/runs: {runs: [..], next_cursor}.',
    examples: ['run list', 'run list --status failed --limit 10', 'run list --dag hello --json'],
  },
  'run search': {
    prints: 'a line a run, as `run list` has them, newest first; `More:` names the next page.',
    json: 'GET /api/dag/search: {runs: [..], next_cursor}.',
    exits: { 2: 'the search cannot be read: where, what was seen, and what may stand there.' },
    examples: [
      'run search state:failed label:team=growth',
      'run search "invoice 4711" dag:import* "time:>7d"',
      'run search "cost:>0.5 -label:team"',
    ],
  },
  'run count': {
    prints: 'a line a value, most runs first: how many, their tokens and what they cost; how many runs these are of.',
    json: 'GET /api/dag/count, all pages added: {counts: [{value, day?, runs, tokens, usd}], counted, damaged}.',
    exits: { 2: 'the search, or the field, cannot be read.' },
    examples: [
      'run count --by label.team',
      'run count state:failed time:30d --by code',
      'run count --by state --over day',
    ],
  },
  'view list': {
    prints: 'a line a view: its name, its search, who wrote it last.',
    json: 'GET /api/dag/views: {views: [{name, q, by, at}]}.',
    examples: ['view list'],
  },
  'view save': {
    prints: 'the view as it is kept.',
    json: 'PUT /api/dag/views/{view}: {name, q, by, at}.',
    exits: { 2: 'the search cannot be read.' },
    examples: ['view save broken state:failed,blocked time:7d'],
  },
  'view rename': {
    prints: 'the view as it is kept.',
    json: 'PUT /api/dag/views/{view}: {name, q, by, at}.',
    exits: { 1: 'there is no such view, or another one of the new name.' },
    examples: ['view rename broken ended-badly'],
  },
  'view delete': {
    prints: 'that it is no more.',
    json: '{name}.',
    examples: ['view delete ended-badly'],
  },
  'run bulk stop': {
    prints: PLANNED,
    json: BULK_JSON,
    exits: BULK_REFUSED,
    examples: [
      'run bulk stop "state:running label:team=growth" --why "Wrong import"',
      'run bulk stop dag:import* --plan',
    ],
  },
  'run bulk retry': {
    prints: `${PLANNED} Each is retried as \`run retry\` without options does.`,
    json: BULK_JSON,
    exits: BULK_REFUSED,
    examples: ['run bulk retry state:failed time:>1d --yes'],
  },
  'run bulk erase': {
    prints: `${PLANNED} A run that is held, or goes on, is refused.`,
    json: BULK_JSON,
    exits: BULK_REFUSED,
    examples: ['run bulk erase label:customer=4711 --why "Request 4711"'],
  },
  'run bulk label': {
    prints: PLANNED,
    json: BULK_JSON,
    exits: BULK_REFUSED,
    examples: ['run bulk label dag:import* --set team=growth --remove stage --yes'],
  },
  'run bulk start': {
    prints: 'how many runs it was done to, or how far it is after 20 s.',
    json: 'POST /api/dag/bulk/{bulk_id}: {bulk}, as it is then.',
    exits: { 1: 'another one planned it, it was cancelled, or it was planned more than an hour ago.' },
    examples: ['run bulk start BULK'],
  },
  'run bulk cancel': {
    prints: 'how many runs it had been done to by then.',
    json: 'POST /api/dag/bulk/{bulk_id}: {bulk}.',
    exits: { 1: 'it has ended.' },
    examples: ['run bulk cancel BULK'],
  },
  'run bulk show': {
    prints: 'how far it is; a line a run it was not done to, with why; of a retry the runs that take their place.',
    json: 'GET /api/dag/bulk/{bulk_id}, all pages: {bulk, runs: [{run_id, outcome?}]}.',
    examples: ['run bulk show BULK'],
  },
  'run bulk list': {
    prints: 'a line a bulk, newest first: how far it is, and its search.',
    json: 'GET /api/dag/bulk: {bulks: [..], next_cursor}.',
    examples: ['run bulk list --limit 5'],
  },
  'run label': {
    prints: 'the labels the run has now.',
    json: 'POST /api/dag/runs/{run_id}/notes: {note, labels}.',
    examples: ['run label RUN team=growth stage=prod', 'run label RUN --remove stage'],
  },
  'run note': {
    prints: 'as whom it was noted.',
    json: 'POST /api/dag/runs/{run_id}/notes: {note, labels}.',
    examples: ['run note RUN "The source was down; see the ticket."'],
  },
  'run notes': {
    prints: 'a line a note, oldest first: when, who, the text, how labels were changed.',
    json: 'GET /api/dag/runs/{run_id}/notes: {notes: [{id, at, by, text?, labels?}]}.',
    examples: ['run notes RUN'],
  },
  'run status': {
    prints: 'blocks with state, tries, gates and times; what it waits for or why it ended; artifacts.',
    json: 'GET /api/dag/runs/{run_id}: {run, blocks: {id: ..}, steps, dag, approvals, links}.',
    examples: ['run status RUN', 'run status RUN --timeline --gates'],
  },
  'run output': {
    prints: 'the values a completed block published; without a block those of the blocks no other waits for.',
    json: '{block_id, outputs: {port: value}, ..} of the block; without a block a list of these.',
    examples: ['run output RUN', 'run output RUN draft --json'],
  },
  'run artifact': {
    prints: 'the artifact itself: its bytes as they are where stdout is no terminal.',
    json: 'its entry in the list of artifacts: {name, bytes, sha256, media_type, ..}.',
    examples: ['run artifact RUN greeting.md', 'run artifact RUN greeting.md -o greeting.md'],
  },
  'run watch': {
    prints:
      'on a terminal the run, redrawn in place, and what it asks; elsewhere a line an event, of more than ten items a line a minute with their count; then how it ended.',
    json: 'the events, one a line, until the run ends.',
    exits: RUN_ENDED,
    examples: ['run watch RUN', 'run watch RUN --json', 'run watch RUN --quiet'],
  },
  'run events': {
    prints: 'a line an event: seq, time since the start, block, what happened.',
    json: 'the events as they are stored, one a line.',
    examples: ['run events RUN', 'run events RUN --since 2 --json'],
  },
  'run log': {
    prints: 'what the step of a block wrote in its newest attempt, or in the one that --attempt names.',
    json: '{run_id, block_id, epoch, attempt, item?, log: {ref, bytes, lines, cut?, tail}}.',
    exits: { 1: 'there is none: only steps write a log.' },
    examples: ['run log RUN count', 'run log RUN judge --item 3 --attempt 1'],
  },
  'run transcript': {
    prints:
      'what an agent said, turn by turn, and a line a call: tool, arguments, outcome, time, cost; below it what came back.',
    json: 'GET /api/dag/runs/{run_id}/blocks/{block_id}/transcript, all pages as one: {run_id, block_id, state, turns: [..]}.',
    exits: { 1: 'there is none: only agents with tools have one.' },
    examples: ['run transcript RUN act', 'run transcript RUN act --from-turn 2 --json'],
  },
  'run approve': {
    prints: 'exactly what is asked and shown, then who decided what. On a terminal it asks first.',
    json: 'POST /api/dag/runs/{run_id}/approvals: {approval, run}.',
    exits: { 2: 'several approvals wait: they are listed; name one with --block or --approval.' },
    examples: ['run approve RUN', 'run approve RUN --block publish --yes'],
  },
  'run reject': {
    prints: 'who decided what, and what happens now.',
    json: 'POST /api/dag/runs/{run_id}/approvals: {approval, run}.',
    exits: { 2: 'several approvals wait: they are listed; name one with --block or --approval.' },
    examples: ['run reject RUN --feedback "Name the source"'],
  },
  'run waive': {
    prints: 'the gates that failed, then who waived them.',
    json: 'POST /api/dag/runs/{run_id}/approvals: {approval, run}.',
    examples: ['run waive RUN --feedback "Checked by hand"'],
  },
  'run stop': {
    prints: 'how many runs were cancelled.',
    json: '{status, stopped}.',
    exits: { 1: 'the run has ended already.' },
    examples: ['run stop RUN --reason "Wrong input"', 'run stop RUN --block draft'],
  },
  'run pause': {
    prints: 'that it is paused.',
    json: '{run_id, state, paused: {since, by, person?, reason?, parent?}}.',
    exits: { 1: 'the run has ended, or is paused already.' },
    examples: ['run pause RUN --why "Provider answers nonsense"'],
  },
  'run resume': {
    prints: 'that it goes on, and how long it stood.',
    json: '{run_id, stood_ms}.',
    exits: { 1: 'the run has ended, is not paused, or stands with the run above it.' },
    examples: ['run resume RUN'],
  },
  'dag pause': {
    prints: 'that it is paused.',
    json: '{name, paused: {by, at, reason?} | null, changed}.',
    exits: { 1: 'there is no such document.' },
    examples: ['dag pause report --why "New prices on Monday"'],
  },
  'dag resume': {
    prints: 'that it goes on.',
    json: '{name, paused: null, changed}.',
    examples: ['dag resume report'],
  },
  'run stop-all': {
    prints: 'how many runs were cancelled, and which could not be.',
    json: '{status, stopped, left?, not_stopped?: [{run_id, code}]}.',
    examples: ['run stop-all', 'run stop-all --hold --reason "Provider is down"'],
  },
  'run erase': {
    prints: 'when it was erased, or that it still goes on after 30 s; who asked, and the hash of the record.',
    json: 'GET /api/dag/runs/{run_id}/erasure.',
    exits: { 1: 'it is held, not over, or opened by a run that is there; or you did not say yes.' },
    examples: ['run erase RUN --why "Request 4711"', 'run erase RUN --why "Request 4711" --yes'],
  },
  'run erasure': {
    prints: 'who holds it, or how far its erasure is: the record that proves it.',
    json: 'GET /api/dag/runs/{run_id}/erasure.',
    exits: { 1: 'with --proof: it was not erased (yet).', 100: 'with --proof: a check of the record failed.' },
    examples: ['run erasure RUN', 'run erasure RUN --proof'],
  },
  'subject show': {
    prints: 'a line a run: id, state, when, document, cost.',
    json: '{runs} of GET /api/dag/search?q=subject:ID, all pages.',
    examples: ['subject show "customer 4711"'],
  },
  'subject erase': {
    prints: 'the runs there are, then what became of each: asked for, waiting for its end, or refused and why.',
    json: '{found, runs: [{run_id, is, code?, detail?}]}.',
    exits: { 1: 'some were refused: held, going on or opened by another run; or you did not say yes.' },
    examples: ['subject erase "customer 4711" --why "Request 4711" --yes'],
  },
  'run hold': {
    prints: 'who holds it since when, or that nobody does.',
    json: 'GET /api/dag/runs/{run_id}/erasure.',
    exits: { 1: 'with --lift: nobody holds it.' },
    examples: ['run hold RUN --why "Audit of 2026"', 'run hold RUN --lift --why "The audit is over"'],
  },
  'run retry': {
    prints: 'the new run, which blocks it takes over, and how to follow it.',
    json: `${STARTED} Also {retry_of, reused_expected}.`,
    exits: RUN_ENDED,
    examples: ['run retry RUN --watch', 'run retry RUN --from draft'],
  },
  'run pivot': {
    prints: 'the new run, whose goal it tries again, and how to follow it.',
    json: `${STARTED} Also {pivots}.`,
    exits: RUN_ENDED,
    examples: ['run pivot RUN --feedback "Use the 2025 figures"'],
  },
  'run diff': {
    prints: 'what differs: inputs, blocks, outputs, gates, cost, time.',
    json: 'GET /api/dag/runs/{run_id}/diff/{other_id}.',
    examples: ['run diff RUN OTHER'],
  },
  'run export': {
    prints: 'the whole run as JSON; with -o what was written and how large it is.',
    json: 'with -o {file, .., seal, left_out}; else the same file.',
    examples: ['run export RUN -o run.json'],
  },
  'run release': {
    prints: 'that starts are allowed again.',
    json: 'POST /api/dag/safety/release.',
    examples: ['run release'],
  },
  'run verify': {
    prints: 'a line an invariant and the hash chain, and which hold.',
    json: 'GET /api/dag/runs/{run_id}/verify, with {ok, recomputed}.',
    exits: { 100: 'something stored does not hold.' },
    examples: ['run verify RUN', 'run verify RUN --audit decisions.ndjson'],
  },
  'run record': {
    prints: 'how many answers of providers were recorded, and what to write into sluice.yaml.',
    json: 'what was made, with the recording unless -o wrote it.',
    examples: ['run record RUN -o recording.json'],
  },
  'run cost': {
    prints: 'a table: block, attempt, model, tokens, USD; then the budget, and what it stored.',
    json: '{run_id, dag_name, state, .., budget, storage}.',
    examples: ['run cost RUN'],
  },
  'event send': {
    prints: 'the id of the event, until when it is kept, and how many waits it woke.',
    json: '{event: {id, name, key?, at, expires_at}, woken, all}.',
    examples: ['event send order.paid --key 4711 --payload 30', 'event send deploy.done --id build-17 --expires-in 2h'],
  },
  'approvals list': {
    prints: 'a line an approval: id, run, block, age, risk, cost, question.',
    json: 'GET /api/dag/approvals: {approvals: [..], next_cursor}.',
    examples: ['approvals list', 'approvals list --status decided --limit 5'],
  },
  'approvals show': {
    prints: 'all of one approval, and how to decide it.',
    json: 'the approval: {approval_id, run_id, block_id, prompt, shown, digest, ..}.',
    examples: ['approvals show APPROVAL'],
  },
  'approvals approve': {
    prints: 'for each what is asked, then who decided what; one that cannot be decided hides no other.',
    json: '{results: [{approval_id, decided, code?, detail?, ..}]}.',
    exits: { 1: 'one was not decided.' },
    examples: ['approvals approve APPROVAL', 'approvals approve APPROVAL APPROVAL2 --yes'],
  },
  'approvals reject': {
    prints: 'for each who decided what.',
    json: '{results: [{approval_id, decided, code?, detail?, ..}]}.',
    exits: { 1: 'one was not decided.' },
    examples: ['approvals reject APPROVAL --feedback "Name the source"'],
  },
  'approvals export': {
    prints: 'a JSON object a line: every question, vote, reminder and decision.',
    json: 'the same.',
    examples: ['approvals export > decisions.ndjson', 'approvals export --since 2026-01-31'],
  },
}

const ANSWER_EXITS = {
  1: 'the run was stopped or failed: there is no answer.',
  4: 'the answer is there, and a sentence of it is unsupported (kept on request, or what it cites has changed since).',
}

const ANSWERED = { 0: 'every line was answered, whatever the answers are.' }

/** Commands about documents, goals, gates, research and the knowledge graph, by their words. */
const DOCUMENT_HELP: Readonly<Record<string, CommandHelp>> = {
  validate: {
    prints:
      'a line a file with its blocks in order; under one with errors a line an error: line:column, code, message.',
    json: '[{file, valid, errors: [{path, code, message, line?, column?, hint?}], warnings, order: [block]}].',
    exits: { 2: 'a file cannot be read.', 100: 'a document has errors.' },
    examples: ['validate', 'validate dags/hello.yaml --json'],
  },
  test: {
    prints:
      'a line a case; under one that fails what was expected and seen, line by line what differs; then what no case reached of the documents.',
    json: '{passed, failed, skipped, took_ms, cases: [{file, name, verdict, took_ms, misses}], coverage}.',
    exits: { 2: 'a file of cases has errors.', 100: 'a case failed, or less was reached than --min-coverage wants.' },
    examples: ['test', 'test tests/hello.yaml --only outline', 'test --junit tests.xml --min-coverage 50'],
  },
  'test record': {
    prints: 'which file it wrote, and what of the run it cannot play.',
    json: '{file, recording?, left_out: [text]}.',
    exits: { 1: 'there is no such run, it goes on, or the file is there already.' },
    examples: ['test record RUN', 'test record RUN -o tests/monday.yaml --force'],
  },
  compile: {
    prints: 'the Amazon States Language text, indented.',
    json: 'the same on one line, exactly what is deployed.',
    exits: { 1: 'the document has errors.' },
    examples: ['compile dags/hello.yaml', 'compile dags/hello.yaml --json > machine.json'],
  },
  plan: {
    prints: 'critical path, time, states, joins, what a thousand runs cost, which limit is next.',
    json: 'POST /api/dag/plan: {dag, blocks, critical_path, makespan, cost, ..}.',
    exits: { 1: 'the document has errors.' },
    examples: [
      'plan dags/hello.yaml',
      'plan dags/hello.yaml --default-duration 30 --json',
      'plan dags/hello.yaml --cost',
    ],
  },
  graph: {
    prints: 'the graph as Mermaid, DOT or SVG.',
    json: '{nodes, edges, ..}.',
    exits: { 1: 'the document has errors.' },
    examples: ['graph dags/hello.yaml', 'graph dags/hello.yaml --format svg > hello.svg'],
  },
  'graph import': {
    prints:
      'how many were put and refused, and which lines; after a failure from which line to go on; of a folder also which files are gone.',
    json: '{outcomes, refused, errors: [{line, id, code, message}], ..}; of a folder {same, gone, removed, skipped} too.',
    exits: { 1: 'a line or a file was refused, or the import stopped.' },
    examples: [
      'graph import entities.ndjson',
      'graph import entities.ndjson --from-line 2001',
      'graph import states.json --from semstreams',
      'graph import handbook --from files',
    ],
  },
  'graph search': {
    prints: 'a line an entity, best first: score, id, label.',
    json: 'GET /api/graph/search: {hits: [..], as_of}.',
    examples: ['graph search Switzerland', 'graph search "capital city" --type place --limit 5'],
  },
  'graph eval': {
    prints:
      'a line a ranking: nDCG@10, Recall@5, MRR@10, and how it stands to words alone with p; then relevant ids nothing found. With embeddings and --answers also a line a weight, and which to set.',
    json: '{questions, rankings: [{name, ndcg_at_10, recall_at_5, mrr_at_10, against?: {difference, p}}], embeddings?: {set, rankings, chosen: {weight, because}}, never_found, not_there: [id]}.',
    exits: { 2: 'a line of the file cannot be read; nothing was asked.' },
    examples: ['graph eval asked.ndjson', 'graph eval asked.ndjson --answers'],
  },
  'graph show': {
    prints: 'label, types and every statement of the entity.',
    json: 'GET /api/graph/entities/{entity_id}.',
    examples: ['graph show ENTITY'],
  },
  'graph neighbors': {
    prints: 'a line an edge: its hop, subject, predicate, object; of a mention also where it stands, in bytes.',
    json: 'GET /api/graph/entities/{entity_id}/neighbors: {entities, edges}.',
    examples: ['graph neighbors ENTITY --direction out --depth 2'],
  },
  'graph delete': {
    prints: 'how many were deleted, and which ids were not there.',
    json: '{results: [{id, ok, error?}]}.',
    exits: { 1: 'one was not deleted.' },
    examples: ['graph delete ENTITY', 'graph delete --file ids.txt'],
  },
  schema: {
    prints:
      'the JSON Schema (2020-12) of a DAG document, of sluice.yaml, of an evaluation, or of messages about events, indented.',
    json: 'the same on one line.',
    examples: [
      'schema > dag.schema.json',
      'schema --settings > sluice.schema.json',
      'schema --eval > eval.schema.json',
      'schema --events > events.schema.json',
    ],
  },
  'goal evaluate': {
    prints: 'the final status with its row of the matrix, goal, trust, quality, a line a criterion.',
    json: '{final_status, row, action, goal_status, met_count, total_count, criteria, quality, pivot, warnings}.',
    exits: { 1: 'FAILED or ABORTED.', 3: 'PARTIAL or BLOCKED.', 100: 'the contract has errors.' },
    examples: ['goal evaluate --contract goal.yaml --output report.md --trust 90'],
  },
  'goal init': {
    prints: 'what was written and where.',
    exits: { 1: 'there is a contract already (--replace).' },
    examples: ['goal init dags/hello.yaml --type ml_classification'],
  },
  'goal validate': {
    prints: 'a line a contract; under one with errors a line an error.',
    json: '[{file, valid, errors, ..}].',
    exits: { 100: 'a contract has errors.' },
    examples: ['goal validate goal.yaml dags/hello.yaml'],
  },
  'goal decide': {
    prints: 'a JSON line for each line of stdin.',
    exits: ANSWERED,
    examples: ['goal decide --ndjson < decisions.ndjson'],
  },
  'eval run': {
    prints:
      'how far it is, then the tables: shares and means a variant with 95 % intervals, the variants compared, what is better and worse than the last time, thresholds.',
    json: '{eval, round, items, planned, done, complete, variants, comparisons, last?, thresholds, ok, file}.',
    exits: { 3: 'the budget was not enough: some runs have no result.', 100: 'a threshold does not hold.' },
    examples: ['eval run evals/titles.yaml', 'eval run evals/titles.yaml --fresh --concurrency 2 --junit eval.xml'],
  },
  'eval import': {
    prints: 'a line for what has no counterpart here, with its place; then the two files it wrote.',
    json: '{written: [path], items, variants, providers, not_mapped: [{path, line?, column?, what}]}.',
    exits: {
      1: 'a file is there already, or nothing could be taken over.',
      3: 'something has no counterpart; the rest was written.',
    },
    examples: ['eval import promptfooconfig.yaml --name translations'],
  },
  'eval show': {
    prints: 'the tables of a round, as `eval run` prints them at its end.',
    json: '{eval, round, items, planned, done, complete, variants, comparisons, last?, thresholds, ok, file}.',
    exits: { 3: 'the round is not complete.', 100: 'a threshold does not hold.' },
    examples: ['eval show evals/titles.yaml', 'eval show evals/titles.yaml --json'],
  },
  'eval validate': {
    prints: 'a line an evaluation: its items and variants; of one with errors where they are.',
    json: '{files: [{file, valid, items?, variants?, code?, problem?, errors?}]}.',
    exits: { 100: 'one has errors.' },
    examples: ['eval validate', 'eval validate evals/titles.yaml'],
  },
  'gates list': {
    prints: 'every gate type with its parameters (? = may be left out) and what it decides; then those of sluice.yaml.',
    json: '[{type, family, summary, params: JSON Schema, ..}]; with --configured the gates of sluice.yaml.',
    examples: ['gates list', 'gates list --configured --json'],
  },
  'gates explain': {
    prints: 'what the gate decides, its parameters, and examples that pass and fail.',
    examples: ['gates explain min_length', 'gates explain any_of'],
  },
  'gates check': {
    prints: 'a JSON line for each line of stdin: {id, passed, reason, ..}.',
    exits: ANSWERED,
    examples: ['gates check --ndjson < checks/gates.ndjson'],
  },
  'research ask': {
    prints:
      'the answer with its citations, then the evidence it cites, and each sentence compared with what is stored: quoted, supported or unsupported.',
    json: 'GET /api/research/{run_id}: {run_id, state, result, trace}.',
    exits: ANSWER_EXITS,
    examples: [
      'research ask "What is the capital of Kenya?"',
      'research ask "Who borders Chad?" --budget 8000 --trace',
    ],
  },
  'research show': {
    prints: 'the same as `research ask`, of a run that is there.',
    json: 'GET /api/research/{run_id}: {run_id, state, result, trace}.',
    exits: ANSWER_EXITS,
    examples: ['research show RUN --trace'],
  },
  'research validate': {
    prints: 'a JSON line for each line of stdin: {id, accepted, errors}.',
    exits: ANSWERED,
    examples: ['research validate --ndjson < payloads.ndjson'],
  },
}

/** By the words of the command: a new command is an entry, and a test demands it. */
export const COMMAND_HELP: Readonly<Record<string, CommandHelp>> = { ...PLACE_HELP, ...RUN_HELP, ...DOCUMENT_HELP }

/** Adds to every command what it prints, its exit codes and its examples; a group shows the first of each of three. */
export function addCommandHelp(tree: Command, typed: string, words: readonly string[] = []): void {
  for (const command of tree.commands) {
    describeArguments(command)
    const path = [...words, command.name()]
    const help = findHelp(path, command.commands.length > 0)
    const lines = help === undefined ? examplesBelow(command, path, typed) : helpLines(help, typed)
    if (lines.length > 0) command.addHelpText('after', `\n${lines.join('\n')}`)
    addCommandHelp(command, typed, path)
  }
}

/** Commands of `run` are also there without it; a group of the same name is another thing. */
export function findHelp(path: readonly string[], isGroup = false): CommandHelp | undefined {
  const known = (name: string) => (Object.hasOwn(COMMAND_HELP, name) ? COMMAND_HELP[name] : undefined)
  return known(path.join(' ')) ?? (path.length === 1 && !isGroup ? known(`run ${path[0]}`) : undefined)
}

function helpLines({ prints, json, exits = {}, examples }: CommandHelp, typed: string): readonly string[] {
  return [
    ...labelled('Prints', prints),
    ...(json === undefined ? [] : labelled('--json', json)),
    ...Object.entries(exits).flatMap(([code, words]) => labelled(`Exit ${code}`, words)),
    '',
    ...exampleLines(examples, typed),
  ]
}

function examplesBelow(command: Command, path: readonly string[], typed: string): readonly string[] {
  const first = command.commands.flatMap((one) => findHelp([...path, one.name()])?.examples.slice(0, 1) ?? [])
  return first.length === 0 ? [] : exampleLines(first.slice(0, 3), typed)
}

function exampleLines(examples: readonly string[], typed: string): readonly string[] {
  return [examples.length === 1 ? 'Example:' : 'Examples:', ...examples.map((example) => `  ${typed} ${example}`)]
}

const LABEL = 9
const COLUMNS = 80

function labelled(label: string, text: string): readonly string[] {
  const lines = wrapText(text, COLUMNS, ' '.repeat(LABEL))
  return lines.map((line, i) => (i === 0 ? `${`${label}:`.padEnd(LABEL)}${line.slice(LABEL)}` : line))
}

/** Arguments that are called the same everywhere are explained once; a command that says more keeps its own words. */
function describeArguments(command: Command): void {
  for (const argument of command.registeredArguments) {
    if (argument.description === '') argument.description = SAYS[argument.name()] ?? ''
  }
}

const RUN = 'id of a run, as `run list` shows it'

const SAYS: Readonly<Record<string, string>> = {
  'run-id': RUN,
  run: RUN,
  'run-a': RUN,
  'run-b': 'the run it is compared with',
  'approval-id': 'id of an approval, as `approvals list` shows it',
  'entity-id': 'id of an entity, as `graph search` shows it',
  'entity-ids': 'ids of entities, as `graph search` shows them',
  file: 'a DAG document, YAML or JSON',
  question: 'in words; quotes are not needed',
}
