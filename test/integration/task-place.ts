import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PlaceOptions } from '../../infra/local/place.ts'
import { type Task, TaskSchema } from '../../shared/dag/task-status.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { parseSettings } from '../../shared/settings/parse.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

const ROOT = join(import.meta.dirname, '../..')
export const DOCUMENT = readFileSync(join(ROOT, 'dags/coding-gates.yaml'), 'utf8')
export const SHIPPED = parseSettings(readFileSync(join(ROOT, 'sluice.yaml'), 'utf8'), 'sluice.yaml')

/** A place with the shipped gates whose two agents are what a test says: `review` gives the report of each round. */
export function openTaskPlace(
  review?: (round: number) => string | Promise<string>,
  { gates = SHIPPED.gates, ...options }: PlaceOptions & { readonly gates?: typeof SHIPPED.gates } = {},
): Promise<TestPlace> {
  const { pipelines } = SHIPPED
  if (review === undefined) return openTestPlace(options, { agents: SHIPPED.agents, gates, pipelines })
  let round = 0
  const probe = provider(({ prompt }) => (prompt.startsWith('Quote') ? review(++round) : `Answer to: ${prompt}`))
  const agents = {
    coder: { role: 'worker', provider: 'probe', model: 'm' },
    reviewer: { role: 'reviewer', provider: 'probe', model: 'm' },
  }
  const named = pipelines.coding?.gates.filter((name) => gates.some((gate) => gate.name === name))
  const used = { coding: { dag: 'coding-gates', gates: named } }
  return openTestPlace({ ...options, providers: { probe } }, { agents, gates, pipelines: used })
}

export async function taskOf({ place }: TestPlace, run_id: string): Promise<Task> {
  return TaskSchema.parse((await place.world.runs.context({ tenant: 'main', run_id }))?.values.task)
}

/** `plan -> PENDING`, and `execute~1` for a move of epoch 1. */
export function movesOf({ moves }: Task, run_id: string): readonly string[] {
  return moves.flatMap((move) => {
    if (move.run_id !== run_id) return []
    return [`${move.block_id}${move.epoch === 0 ? '' : `~${move.epoch}`}: ${move.from ?? 'none'} -> ${move.to}`]
  })
}

/** `execute max-bounces: failed`, in order. */
export function verdictsOf(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'block:gate' ? [`${event.block_id} ${event.data.gate}: ${event.data.status}`] : [],
  )
}
