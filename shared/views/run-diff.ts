import type { Block } from '../dag/dag.ts'
import type { StoredValue } from '../runs/event.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import type { RunAnswer } from './run.ts'

/** One of the two runs, whole. */
export interface DiffedRun {
  readonly view: RunAnswer
  /** The shared context as it stands. */
  readonly context: Readonly<Record<string, Json>>
}

interface RunSide {
  readonly run_id: string
  readonly dag_name: string
  readonly dag_hash: string
  readonly state: string
  readonly reason?: string
  readonly blocks: number
  readonly attempts: number
  readonly tokens: number
  /** null = no price is known. */
  readonly usd: number | null
  /** Tokens whose price nobody knows; absent when there are none. */
  readonly unpriced_tokens?: number
  /** null = it has not begun, or not ended. */
  readonly duration_ms: number | null
}

interface BlockSide extends Pick<RunSide, 'state' | 'tokens' | 'usd' | 'unpriced_tokens' | 'duration_ms'> {
  readonly attempt: number
  readonly epoch: number
  readonly outputs: Readonly<Record<string, StoredValue>>
  readonly error?: { readonly code: string; readonly reason: string }
  /** The run whose result stands in for a dispatch. */
  readonly cached_from?: string
}

type Compared = 'same' | 'different' | 'only_a' | 'only_b'

interface BlockDiff {
  readonly block_id: string
  /** Whether both documents define it alike. */
  readonly definition: Compared
  /** Absent where the run's document has no such block. */
  readonly a?: BlockSide
  readonly b?: BlockSide
  /** By port, told by the sha256 of the values. */
  readonly outputs: Readonly<Record<string, Compared>>
  readonly gates: readonly { readonly gate: string; readonly a?: string; readonly b?: string }[]
}

/** The body of GET /api/dag/runs/:a/diff/:b. */
export interface RunDiff {
  readonly a: RunSide
  readonly b: RunSide
  readonly only_in: { readonly a: readonly string[]; readonly b: readonly string[] }
  /** Blocks of both whose definition is not the same. */
  readonly changed: readonly string[]
  /** Keys of the shared context whose values are not the same. */
  readonly context: Readonly<Record<string, Exclude<Compared, 'same'>>>
  /** In the order of run a's document, then those only b has. */
  readonly blocks: readonly BlockDiff[]
}

/** Two runs side by side: of one document or of two, ended or not. */
export function diffRuns(a: DiffedRun, b: DiffedRun): RunDiff {
  const [inA, inB] = [byId(a), byId(b)]
  const ids = [...new Set([...inA.keys(), ...inB.keys()])]
  const blocks = ids.map((id) => diffBlock(id, { a, b, definition: definitionOf(inA.get(id), inB.get(id)) }))
  const having = (definition: Compared) =>
    blocks.filter((one) => one.definition === definition).map((one) => one.block_id)
  return {
    a: runSide(a),
    b: runSide(b),
    only_in: { a: having('only_a'), b: having('only_b') },
    changed: having('different'),
    context: differing(a.context, b.context),
    blocks,
  }
}

function byId({ view }: DiffedRun): ReadonlyMap<string, Block> {
  return new Map(view.dag.blocks.map((block) => [block.id, block]))
}

function runSide({ view: { run, blocks, steps } }: DiffedRun): RunSide {
  const { run_id, dag_name, dag_hash, state, reason, tokens, usd, unpriced_tokens } = run
  return {
    run_id,
    dag_name,
    dag_hash,
    state,
    ...(reason === undefined ? {} : { reason }),
    blocks: Object.keys(blocks).length,
    attempts: steps.length,
    tokens,
    usd,
    ...(unpriced_tokens === undefined ? {} : { unpriced_tokens }),
    duration_ms: between(run.started_at, run.ended_at),
  }
}

function definitionOf(a: Block | undefined, b: Block | undefined): Compared {
  if (a === undefined) return 'only_b'
  return b === undefined ? 'only_a' : a.hash === b.hash ? 'same' : 'different'
}

function diffBlock(
  block_id: string,
  { a, b, definition }: { readonly a: DiffedRun; readonly b: DiffedRun; readonly definition: Compared },
): BlockDiff {
  const [left, right] = [blockOf(a, block_id), blockOf(b, block_id)]
  const ofA = Object.fromEntries((left?.gates ?? []).map(({ gate, status }) => [gate, status]))
  const ofB = Object.fromEntries((right?.gates ?? []).map(({ gate, status }) => [gate, status]))
  const hashes = [left, right].map((one) =>
    Object.entries(one?.outputs ?? {}).map(([port, { sha256 }]) => [port, sha256]),
  )
  return {
    block_id,
    definition,
    ...(left === undefined ? {} : { a: blockSide(left) }),
    ...(right === undefined ? {} : { b: blockSide(right) }),
    outputs: compared(Object.fromEntries(hashes[0] ?? []), Object.fromEntries(hashes[1] ?? [])),
    gates: [...new Set([...Object.keys(ofA), ...Object.keys(ofB)])].map((gate) => ({
      gate,
      ...(Object.hasOwn(ofA, gate) ? { a: String(ofA[gate]) } : {}),
      ...(Object.hasOwn(ofB, gate) ? { b: String(ofB[gate]) } : {}),
    })),
  }
}

type BlockAnswer = RunAnswer['blocks'][string]

function blockOf({ view }: DiffedRun, id: string): BlockAnswer | undefined {
  return Object.hasOwn(view.blocks, id) ? view.blocks[id] : undefined
}

function blockSide(block: BlockAnswer): BlockSide {
  const { state, attempt, epoch, tokens, usd, unpriced_tokens, outputs = {}, error, cached_from } = block
  return {
    state,
    attempt,
    epoch,
    tokens,
    usd,
    ...(unpriced_tokens === undefined ? {} : { unpriced_tokens }),
    duration_ms: between(block.started_at, block.ended_at),
    outputs,
    ...(error === undefined ? {} : { error }),
    ...(cached_from === undefined ? {} : { cached_from }),
  }
}

function between(from: string | undefined, to: string | undefined): number | null {
  return from === undefined || to === undefined ? null : Math.max(0, Date.parse(to) - Date.parse(from))
}

type Values = Readonly<Record<string, Json>>

function compared(a: Values, b: Values): Record<string, Compared> {
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()
  return Object.fromEntries(keys.map((key): [string, Compared] => [key, compare(a, b, key)]))
}

function compare(a: Values, b: Values, key: string): Compared {
  if (!Object.hasOwn(a, key)) return 'only_b'
  if (!Object.hasOwn(b, key)) return 'only_a'
  return canonicalJson(a[key]) === canonicalJson(b[key]) ? 'same' : 'different'
}

function differing(a: Values, b: Values): RunDiff['context'] {
  const all = Object.entries(compared(a, b))
  return Object.fromEntries(all.flatMap(([key, how]) => (how === 'same' ? [] : [[key, how] as const])))
}
