import { bytesWords, durationWords } from '../parts/format.ts'

/** What a cap means, in words; one of a later version is shown by its own name. */
export function capLabel(name: string): string {
  return Object.hasOwn(LABELS, name) ? (LABELS[name] ?? name) : name.replaceAll('_', ' ')
}

const LABELS: Readonly<Record<string, string>> = {
  max_runs: 'Runs at once',
  queue: 'Runs above that wait in a queue',
  max_run_sec: 'Longest run',
  max_block_ms: 'Longest attempt of a block',
  max_call_ms: 'Longest call of AWS',
  max_attempts: 'Tries of a block',
  max_parallel: 'Blocks of a run at once',
  stall_sec: 'Without progress, a run is cancelled after',
  max_run_tokens: 'Tokens of a run',
  max_run_usd: 'Money of a run',
  max_block_tokens: 'Tokens of a block',
  max_block_usd: 'Money of a block',
  max_run_bytes: 'Stored by a run',
  max_tenant_bytes: 'Stored by the runs and uploads of a tenant',
  max_body_bytes: 'Size of a request',
  max_batch_bytes: 'Size of a request that puts entities or triples',
  max_requests_per_min: 'Requests that change something, a caller and minute',
  max_tenant_requests_per_min: 'Requests that change something, a tenant and minute',
  max_streams_per_caller: 'Open streams of events, a caller',
  max_streams: 'Open streams of events, all callers',
  self_approval: 'The starter of a run may approve it',
  retention_days: 'Runs are kept for',
  dag_bytes: 'Size of a document',
  dag_blocks: 'Blocks of a document',
  inputs_bytes: 'Inputs of a run',
  context_bytes: 'Shared context of a run',
  feedback_characters: 'Characters of feedback',
  json_depth: 'Depth of JSON',
  listed_issues: 'Errors listed in one answer',
  input_file_bytes: 'Size of an input file',
  block_timeout_ms: 'Longest timeout of a block',
}

/** A cap with its unit, which its name ends with. null = no cap. */
export function capWords(name: string, value: number | boolean | null): string {
  if (value === null) return 'no cap'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (name === 'max_parallel' && value === 0) return 'no limit'
  const unit = UNITS.find(([end]) => name.endsWith(end))
  return unit === undefined ? value.toLocaleString('en') : unit[1](value)
}

const DAY_SEC = 86_400

const UNITS: readonly (readonly [end: string, words: (value: number) => string])[] = [
  ['_ms', durationWords],
  ['_sec', (sec) => (sec % DAY_SEC === 0 && sec > 0 ? daysWords(sec / DAY_SEC) : durationWords(sec * 1_000))],
  ['_bytes', bytesWords],
  ['_usd', (usd) => `$${usd.toLocaleString('en')}`],
  ['_days', daysWords],
]

function daysWords(days: number): string {
  return `${days.toLocaleString('en')} ${days === 1 ? 'day' : 'days'}`
}
