import type { Block } from '../dag/dag.ts'
import type { RunEvent } from '../runs/event.ts'
import type { PlayedRun } from './played-case.ts'

/** One thing a document may do, and whether a case made it do it. */
interface Covered {
  readonly kind: 'block' | 'branch' | 'gate' | 'retry' | 'bounce' | 'approval' | 'fallback'
  /** `publish`, `check.polite fails`. */
  readonly what: string
  readonly reached: boolean
}

/** What all cases of a document reached together. */
export interface Coverage {
  readonly dag: string
  readonly all: readonly Covered[]
}

/** By document: blocks that ran, conditions seen both ways, gates seen to pass and to fail, retries, bounces, answers of people. */
export function coverage(runs: readonly PlayedRun[]): readonly Coverage[] {
  const byDag = Map.groupBy(runs, ({ dag }) => dag.name)
  return [...byDag].map(([dag, of]) => {
    const events = of.flatMap((run) => run.events)
    // The same document in every case, but for pins of its tools.
    const document = of[0]?.dag
    return { dag, all: document === undefined ? [] : document.blocks.flatMap((block) => ofBlock(block, events)) }
  })
}

function ofBlock(block: Block, all: readonly RunEvent[]): readonly Covered[] {
  const events = all.filter(({ block_id }) => block_id === block.id)
  const has = (fits: (event: RunEvent) => boolean) => events.some(fits)
  const row = (kind: Covered['kind'], what: string, fits: (event: RunEvent) => boolean): Covered => {
    return { kind, what, reached: has(fits) }
  }
  const isBegun = ({ type }: RunEvent) => ['block:started', 'block:completed', 'block:waiting'].includes(type)
  const { id } = block
  return [
    row('block', id, isBegun),
    ...(['when', 'depends'] as const).flatMap((condition) =>
      block[condition] === undefined
        ? []
        : [row('branch', `${id} is skipped by ${condition}`, (event) => isSkipped(event, condition))],
    ),
    ...[...block.pre_gates, ...block.post_gates].flatMap(({ name }) => [
      row('gate', `${id}.${name} passes`, (event) => isVerdict(event, name, true)),
      row('gate', `${id}.${name} fails`, (event) => isVerdict(event, name, false)),
    ]),
    ...(block.retry.max_attempts > 1
      ? [row('retry', `${id} is tried again`, ({ type }) => type === 'block:retrying')]
      : []),
    ...(block.on_gate_fail ?? []).map(({ when_gate, route_to }) =>
      row('bounce', `${id} sends back to ${route_to} when ${when_gate} fails`, (event) => {
        return event.type === 'block:rerouted' && event.data.to === route_to
      }),
    ),
    ...ofPeople(block, row),
    ...ofAgent(block, row),
  ]
}

type Row = (kind: Covered['kind'], what: string, fits: (event: RunEvent) => boolean) => Covered

function ofPeople({ id, approval }: Block, row: Row): readonly Covered[] {
  if (approval === undefined) return []
  return (['approve', 'reject'] as const).map((decision) =>
    row('approval', `${id} is answered ${decision}`, (event) => {
      return event.type === 'approval:decided' && event.data.decision === decision
    }),
  )
}

function ofAgent(block: Block, row: Row): readonly Covered[] {
  const fallback = block.mode === 'ai' ? (block.agent.fallback ?? []) : []
  return fallback.map(({ provider, model }) =>
    row('fallback', `${block.id} is answered by ${provider}/${model}`, (event) => {
      return event.type === 'block:output' && event.data.provider === provider
    }),
  )
}

function isSkipped(event: RunEvent, condition: 'when' | 'depends'): boolean {
  return event.type === 'block:skipped' && event.data.condition === condition
}

function isVerdict(event: RunEvent, gate: string, passed: boolean): boolean {
  return event.type === 'block:gate' && event.data.gate === gate && (event.data.status === 'passed') === passed
}

/** `refund: 9 of 12 reached`, and what was not. */
export function coverageLines(all: readonly Coverage[]): readonly string[] {
  return all.flatMap(({ dag, all: rows }) => {
    const missed = rows.filter(({ reached }) => !reached)
    const head = `${dag}: ${rows.length - missed.length} of ${rows.length} reached by a case`
    return [head, ...missed.map(({ kind, what }) => `  not reached: ${kind.padEnd(8)} ${what}`)]
  })
}

/** The share that was reached, of all documents together; 1 where there is nothing to reach. */
export function coveredShare(all: readonly Coverage[]): number {
  const rows = all.flatMap((one) => one.all)
  return rows.length === 0 ? 1 : rows.filter(({ reached }) => reached).length / rows.length
}
