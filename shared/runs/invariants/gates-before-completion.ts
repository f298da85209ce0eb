import type { Block, GateUse } from '../../dag/dag.ts'
import { composeVerdicts } from '../../gates/compose.ts'
import type { EventData, RunEvent } from '../event.ts'
import { itemBlock } from '../foreach-items.ts'
import { invariant } from './invariant.ts'
import { nameOf, type Pass, passesOf } from './passes.ts'

export const gatesBeforeCompletion = invariant({
  n: 11,
  title: 'no attempt completes unless each of its gates was judged once, or waived then, and their composition holds',
  of: 'log',
  needs: ['events', 'dag'],
  check({ events, dag }) {
    const blocks = new Map(dag.blocks.map((block) => [block.id, block]))
    return passesOf(events).flatMap((pass) => {
      const block = blocks.get(pass.block_id)
      const done = pass.events.find(({ type }) => type === 'block:completed')
      if (block === undefined || done === undefined) return twiceProblems(pass)
      return [...twiceProblems(pass), ...gateProblems(pass, judgedAs(block, pass), done)]
    })
  },
})

/** Also in an attempt that fails a gate is judged once, and what failed is waived once. */
function twiceProblems(pass: Pass): readonly string[] {
  const seen = new Set<string>()
  return pass.events.flatMap((event) => {
    if (event.type !== 'block:gate') return []
    const { phase, gate, status } = event.data
    const [judged, waived] = ['judged', 'waived'].map((word) => `${word}/${event.attempt}/${phase}/${gate}`)
    const key = (status === 'waived' ? waived : judged) ?? ''
    if (status === 'waived' && !seen.has(judged ?? '')) {
      return [`${nameOf(pass)}: event ${event.seq} waives gate "${gate}", which nobody judged`]
    }
    const twice = seen.has(key)
    seen.add(key)
    return twice ? [`${nameOf(pass)}: event ${event.seq} judges gate "${event.data.gate}" again`] : []
  })
}

function judgedAs(block: Block, { item }: Pass): Block {
  return item === undefined || block.foreach === undefined ? block : itemBlock(block, block.foreach)
}

function gateProblems(pass: Pass, block: Block, { seq, attempt }: RunEvent): readonly string[] {
  const judged = pass.events.flatMap((event) => {
    return event.type === 'block:gate' && event.attempt === attempt ? [event.data] : []
  })
  return (['pre', 'post'] as const).flatMap((phase) => {
    const uses = phase === 'pre' ? block.pre_gates : block.post_gates
    const names = new Set(uses.map(({ name }) => name))
    // The gates of a task's move are judged by its handler, beside those of the block.
    const verdicts = judged.filter((one) => one.phase === phase && names.has(one.gate))
    const wrong = countProblems(uses, verdicts)
    const { passed, failed } = composeVerdicts(uses, verdicts.map(asVerdict), block.gate_composition[phase])
    if (!passed) wrong.push(`${phase}-gates ${failed.join(', ')} do not hold`)
    return wrong.map((problem) => `${nameOf(pass)}: completed (event ${seq}), though ${problem}`)
  })
}

function countProblems(uses: readonly GateUse[], verdicts: readonly EventData<'block:gate'>[]): string[] {
  return uses.flatMap(({ name }) => {
    const count = verdicts.filter(({ gate }) => gate === name).length
    return count > 0 ? [] : [`gate "${name}" has no verdict in this attempt`]
  })
}

function asVerdict({ gate, type, status, reason, duration_ms, input_hash }: EventData<'block:gate'>) {
  return { name: gate, type, passed: status === 'passed', status, reason, facts: {}, duration_ms, input_hash }
}
