import type { CommandHelp } from '../terminal/options.ts'

const ANSWER_EXITS = {
  1: 'the run was stopped or failed: there is no answer.',
  4: 'the answer is there, and a sentence of it is unsupported (kept on request, or what it cites has changed since).',
}

const ANSWERED = { 0: 'every line was answered, whatever the answers are.' }

/** Commands about documents, goals, gates, research and the knowledge graph, by their words. */
export const DOCUMENT_HELP: Readonly<Record<string, CommandHelp>> = {
  validate: {
    prints:
      'a line a file with its blocks in order; under one with errors a line an error: line:column, code, message.',
    json: '[{file, valid, errors: [{path, code, message, line?, column?, hint?}], warnings, order: [block]}].',
    exits: { 2: 'a file cannot be read.', 100: 'a document has errors.' },
    examples: ['validate', 'validate dags/hello.yaml --json'],
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
    prints: 'how many were put and refused, and which lines; after a failure from which line to go on.',
    json: '{put, refused, ..}.',
    exits: { 1: 'a line was refused, or the import stopped.' },
    examples: [
      'graph import entities.ndjson',
      'graph import entities.ndjson --from-line 2001',
      'graph import states.json --from semstreams',
    ],
  },
  'graph search': {
    prints: 'a line an entity, best first: score, id, label.',
    json: 'GET /api/graph/search: {hits: [..], as_of}.',
    examples: ['graph search Switzerland', 'graph search "capital city" --type place --limit 5'],
  },
  'graph show': {
    prints: 'label, types and every statement of the entity.',
    json: 'GET /api/graph/entities/{entity_id}.',
    examples: ['graph show ENTITY'],
  },
  'graph neighbors': {
    prints: 'a line an edge: direction, predicate, the other entity.',
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
    prints: 'the JSON Schema (2020-12) of a DAG document, or of sluice.yaml, indented.',
    json: 'the same on one line.',
    examples: ['schema > dag.schema.json', 'schema --settings > sluice.schema.json'],
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
