import { expect } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold-run.ts'
import { readOrdinal } from '../../shared/runs/lane.ts'
import { provider, type TestPlace } from './test-place.ts'

/** A block that answers with what the probe says; `from` are blocks it reads. */
export function block(id: string, from: readonly string[] = [], more: object = {}): object {
  return {
    id,
    inputs: Object.fromEntries(from.map((other) => [other, { from: `${other}.text` }])),
    outputs: { text: { type: 'string' } },
    agent: { provider: 'probe', model: 'm', prompt: id },
    ...more,
  }
}

/** Gate and rule of a block that is sent back to `to` until its text holds "good". */
export function bounce(to: string, max_bounces: number, reset_blocks: readonly string[] = []): object {
  return {
    post_gates: [{ name: 'good', check: { type: 'contains', port: 'text', values: ['good'] }, on_fail: 'route' }],
    on_gate_fail: [{ when_gate: 'good', route_to: to, reset_blocks, max_bounces }],
  }
}

/** Answers by block (the prompt begins with its id) and by how often it was asked; `prompts` keeps what was asked. */
export function probe(
  answers: Readonly<Record<string, (round: number) => string | Promise<string>>>,
  prompts: string[] = [],
) {
  const rounds = new Map<string, number>()
  return provider(({ prompt }) => {
    prompts.push(prompt)
    const id = prompt.split('\n')[0] ?? ''
    const round = (rounds.get(id) ?? 0) + 1
    rounds.set(id, round)
    return answers[id]?.(round) ?? `${id} ${round}`
  })
}

/** Bad until round `good`. */
export const goodFrom = (good: number) => (round: number) => (round >= good ? 'good' : `bad ${round}`)

/** What happened, without ready, output and gates: `review failed~1` is an event of epoch 1. */
export function story(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap(({ type, id, block_id, data }) => {
    if (/ready|output|gate/.test(type)) return []
    if (type === 'block:rerouted')
      return [`rerouted to ${data.to}: ${data.reset.join(' ')} (${data.bounce}/${data.max})`]
    const { epoch } = readOrdinal(Number(id.split('/')[1]))
    const word = type.startsWith('approval:') ? type : type.split(':')[1]
    return [block_id === undefined ? type : `${block_id} ${word}${epoch === 0 ? '' : `~${epoch}`}`]
  })
}

/** Invariants 22 and 23 with epochs: HEAD, projections and GET run say what the events say. */
export async function expectFoldStored(place: TestPlace, run_id: string): Promise<void> {
  const run = { tenant: 'main', run_id }
  const { runs } = place.place.world
  const fold = foldRun(await place.events(run_id))
  const head = await runs.head(run)
  const { json } = await place.call('get-run', run_id)
  const { dag, blocks } = json as unknown as { dag: { blocks: { id: string }[] }; blocks: Record<string, object> }
  const projections = new Map((await runs.projections(run)).map((projection) => [projection.block, projection]))
  for (const [index, { id }] of dag.blocks.entries()) {
    const said = fold.blocks[id]
    if (said === undefined) continue
    expect(blocks[id], id).toMatchObject({ state: said.state, attempt: said.attempt, epoch: said.epoch })
    if (!['completed', 'failed', 'skipped'].includes(said.state)) continue
    const { epoch, outcome } = readOrdinal(head?.lanes[String(index)] ?? 0)
    expect({ id, epoch, outcome }).toEqual({ id, epoch: said.epoch, outcome: said.state })
    const { state, attempt, ordinal } = projections.get(index) ?? { ordinal: -1 }
    expect({ id, state, attempt, ordinal }).toEqual({
      id,
      state: said.state,
      attempt: said.attempt,
      ordinal: head?.lanes[String(index)],
    })
  }
}
