import type { BlockCall } from '../blocks/block-call.ts'
import { childRun } from '../blocks/child-run.ts'
import type { RunOrder } from './create-run.ts'

/** What every child run has of the attempt it is opened for; `most_sec` besides what is left to its parent. */
export function childOf(
  call: BlockCall,
  attempt: number,
  most_sec: number,
): Pick<RunOrder, 'run' | 'options' | 'starter' | 'starter_person'> {
  const { world, meta, head } = call
  const left = Math.ceil((Date.parse(head.deadline_at) - world.clock.now()) / 1_000)
  const deadline_sec = Math.max(1, Math.min(left, most_sec))
  const { starter, starter_person } = meta
  return { run: childRun(call, attempt), options: { ...meta.options, deadline_sec }, starter, starter_person }
}
