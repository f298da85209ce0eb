import * as z from 'zod'
import type { World } from '../../shared/world.ts'
import { functionHandler, type HostContext } from '../handler.ts'
import { MachineInputSchema, runOf } from '../runs/machine-input.ts'
import { advanceBlock } from './advance-block.ts'
import { openBlockCall } from './block-call.ts'
import type { BlockReport } from './block-report.ts'
import { closeChild } from './close-child.ts'
import { guardBlock } from './guard-block.ts'
import { isStale } from './is-stale.ts'
import { joinKey } from './join-key.ts'
import { signalJoins } from './signal-joins.ts'
import { tryBlock } from './try-block.ts'

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
 * -> contract -> post-gates -> publish -> signal joins (architecture, "State machine"). Safe to invoke any number of
 * times: the lane in HEAD decides what is left to do.
 */
export const handler = functionHandler({ name: 'run-block', input: InputSchema, run: runBlock })

async function runBlock(event: z.infer<typeof InputSchema>, world: World, host: HostContext): Promise<BlockReport> {
  const call = await openBlockCall(world, runOf(event.in), event)
  const isClose = event.phase === 'close' && call.block.mode === 'dag'
  const next = (undecided: boolean) => (isClose ? closeChild(call) : tryBlock(call, undecided, host.signal))
  const report = await guardBlock(call, host, () => advanceBlock(call, next))
  if (isStale(call)) return report
  const joins = event.joins.map((join) => joinKey(join, event.e))
  await signalJoins({ world, run: call.run, source: event.block }, joins)
  return report
}
