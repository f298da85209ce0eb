/** Limits of a document; they bind every door (docs/limits-and-costs.md). */
export const LIMITS = {
  document_bytes: 262_144,
  depth: 64,
  blocks: 1_000,
  gates_per_block: 20,
  /** block:output names each by ref, hash and size, about 250 bytes, and an append has 8 KiB. */
  outputs_per_block: 24,
  /** Patterns and JSON Schema references of all gates: about 1 ms each to compile. */
  compiled_parts: 1_000,
  /** Nodes of the JSON Schemas of all gates: about 0.3 ms each to compile, in the isolate. */
  schema_nodes: 10_000,
  /** JSONata of a document whose syntax is checked with it; what comes after is judged where it runs. */
  program_characters: 20_000,
  timeout_ms: 840_000,
  /** Of a block whose work AWS does itself: 30 days. Nothing of ours waits for it. */
  call_timeout_ms: 2_592_000_000,
  approval_timeout_sec: 604_800,
  /** Votes of one approval: HEAD keeps each. */
  quorum: 20,
  /** Reminders of one approval: an event each. */
  reminders: 100,
  /** Runs in place of one another. */
  iterations: 100,
  retry_delay_ms: 604_800_000,
  /** Items of a `foreach`, and of them at work at once (an inline Map runs no more). */
  foreach_items: 1_000,
  foreach_concurrency: 40,
  /** Tools of an agent, its turns, and calls of one turn (docs/adr/0075). */
  agent_tools: 64,
  agent_turns: 200,
  agent_calls_per_turn: 64,
  /** Calls of one pass of an agent: an execution has room for as many events. */
  agent_calls: 1_000,
  /** Bounces of one rule: each runs its hull again. */
  max_bounces: 100,
  /** Blocks that run again together. */
  hull_blocks: 100,
  cache_age_sec: 31_536_000,
  /** One wait: a machine lives a year at the most, and has more to do. */
  wait_sec: 25_920_000,
  /** What a wait for an event or a callback has where the document does not say. */
  wait_default_sec: 604_800,
  /** JSONata of a wait's `match`. */
  match_characters: 2_000,
  /** Runs of one key at once: each is looked at where another one waits. */
  concurrency: 100,
  /** JSONata of a concurrency key, and the text it may come to. */
  key_program_characters: 2_000,
  key_characters: 256,
  /** Of a start, before or behind: what comes later than that is passed by nobody. */
  priority_sec: 3_600,
  /** Who is asked in place of an agent's provider. */
  fallbacks: 4,
  /** Files that go with one question to a model, bytes of one, and of all: what providers take, and a function holds. */
  model_files: 16,
  model_file_bytes: 5_242_880,
  model_files_bytes: 16_777_216,
  /** Caps of a budget: larger ones cap nothing, and in millionths of a dollar must stay whole numbers. */
  budget_tokens: 1_000_000_000_000,
  budget_usd: 1_000_000_000,
  /** Outputs whose trust scores one run is judged by. */
  verifiers: 20,
  /** Errors answered at once. */
  errors: 100,
} as const

/** Ids of blocks, and names of ports and run inputs: they become keys of objects, paths and state names. */
export const NAME_RULE = 'a letter, then letters, digits, "_" or "-", 64 at most'

export function isName(text: string): boolean {
  return NAME.test(text) && !isReservedKey(text)
}

/** Keys that reach an object's prototype; refused wherever a document or an expression could use them. */
export function isReservedKey(key: string): boolean {
  return key === '__proto__' || key === 'constructor' || key === 'prototype'
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** What one request of a gate, a webhook or a service may take (functions/gates/net-gate.ts): milliseconds in all. */
export const MOST_REQUEST_MS = 30_000
/** Bytes of its answer that are read; the rest is left on the wire. */
export const MOST_ANSWER_BYTES = 65_536
