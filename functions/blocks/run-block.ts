import * as z from 'zod'
import type { World } from '../../shared/world.ts'
import { functionHandler, type HostContext } from '../handler.ts'
import { MachineInputSchema, runOf } from '../runs/machine-input.ts'
import { advancePhase } from './advance-phase.ts'
import { openBlockCall } from './block-call.ts'
import type { BlockReport } from './block-report.ts'
import { guardBlock } from './guard-block.ts'
import { isStale } from './is-stale.ts'
import { itemNumbers } from './item-numbers.ts'
import { joinKey } from './join-key.ts'
import { signalJoins } from './signal-joins.ts'

const InputSchema = z.strictObject({
  in: MachineInputSchema,
  block: z.string().min(1),
  joins: z.array(z.string()).max(1_000).default([]),
  e: z.int().min(0).optional(),
  item: z.int().min(0).optional(),
  phase: z.enum(['items', 'close']).optional(),
})

/**
 * The block state: the life of one attempt. Fence and upstream outcomes -> pre-gates -> approval -> claim -> dispatch
 * -> contract -> post-gates -> publish -> signal joins (docs/architecture.md, "The life of a block"). Safe to invoke
 * any number of times: the lane in HEAD decides what is left to do.
 */
export const handler = functionHandler({ name: 'run-block', input: InputSchema, run: runBlock })

/** The report of a block; phase `items` answers the numbers of the items to run. */
type Answer = BlockReport | readonly number[]

async function runBlock(event: z.infer<typeof InputSchema>, world: World, host: HostContext): Promise<Answer> {
  const call = await openBlockCall(world, runOf(event.in), event, host.signal)
  if (call.block.foreach !== undefined && event.phase !== 'close') return itemNumbers(call, host)
  const report = await guardBlock(call, host, () => advancePhase(call, event.phase, host.signal))
  if (isStale(call)) return report
  const joins = event.joins.map((join) => joinKey(join, event.e))
  await signalJoins({ world, run: call.run, source: event.block }, joins)
  return report
}
