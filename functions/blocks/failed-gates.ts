import type { Block } from '../../shared/dag/dag.ts'
import type { OpenAsk } from './open-ask.ts'
import { gatesSoFar } from './verdicts-so-far.ts'

/** The gates a person was asked about, with why they do not hold; of a question about the budget none. */
export function failedGates(
  { pre_gates, post_gates }: Pick<Block, 'pre_gates' | 'post_gates'>,
  { about, events }: Pick<OpenAsk, 'about' | 'events'>,
): readonly { readonly name: string; readonly reason: string }[] {
  if (about === 'budget') return []
  const [phase, uses] = about === 'pre_gates' ? (['pre', pre_gates] as const) : (['post', post_gates] as const)
  const counted = new Set(uses.flatMap(({ name, on_fail }) => (on_fail === 'warn' ? [] : [name])))
  return gatesSoFar(events, phase).flatMap(({ gate: name, status, reason }) => {
    return (status === 'failed' || status === 'error') && counted.has(name) ? [{ name, reason }] : []
  })
}
