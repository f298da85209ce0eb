import type { CommandHelp } from '../terminal/options.ts'

const RUN_ENDED = { 1: 'the run failed or was cancelled.', 3: 'the run ended partial or blocked.' }
const STARTED =
  'the answer of the start: {run_id, dag_name, dag_hash, blocks, edges, links}; with --watch or --yes the run as it ended, as `run status --json`.'

/** Commands about runs and what people are asked, by their words. */
export const RUN_HELP: Readonly<Record<string, CommandHelp>> = {
  'run start': {
    prints: 'the run id and how to follow it; with --watch its progress, how it ended, outputs and artifacts.',
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
    prints: 'on a terminal the run, redrawn in place; elsewhere a line an event; then how it ended.',
    json: 'the events, one a line, until the run ends.',
    exits: RUN_ENDED,
    examples: ['run watch RUN', 'run watch RUN --json'],
  },
  'run events': {
    prints: 'a line an event: seq, time since the start, block, what happened.',
    json: 'the events as they are stored, one a line.',
    examples: ['run events RUN', 'run events RUN --since 2 --json'],
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
  'run stop-all': {
    prints: 'how many runs were cancelled, and which could not be.',
    json: '{status, stopped, left?, not_stopped?: [{run_id, code}]}.',
    examples: ['run stop-all', 'run stop-all --hold --reason "Provider is down"'],
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
