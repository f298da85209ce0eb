import * as z from 'zod'
import { Fault, MachineSignal } from '../../shared/errors.ts'
import type { World } from '../../shared/world.ts'
import { functionHandler, type HostContext } from '../handler.ts'
import { MachineInputSchema, runOf } from '../runs/machine-input.ts'
import { advanceBlock } from './advance-block.ts'
import { openBlockCall } from './block-call.ts'
import type { BlockReport } from './block-report.ts'
import { failBlock } from './fail-block.ts'
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
 * -> contract -> post-gates -> publish -> signal joins (architecture, "State machine"). Safe to invoke any number of
 * times: the lane in HEAD decides what is left to do.
 */
export const handler = functionHandler({ name: 'run-block', input: InputSchema, run: runBlock })

async function runBlock(event: z.infer<typeof InputSchema>, world: World, host: HostContext): Promise<BlockReport> {
  const call = await openBlockCall(world, runOf(event.in), event)
  const report = await advanceBlock(call, host.signal).catch((error: unknown) => {
    if (leavesTheFunction(error, host)) throw error
    return failBlock(call, error)
  })
  await signalJoins(call, event.joins)
  return report
}

/** The machine's own signals, what native Retry is for, and the host's own end; all else is recorded and returned. */
function leavesTheFunction(error: unknown, host: HostContext): boolean {
  if (host.signal?.aborted === true || error instanceof MachineSignal) return true
  return error instanceof Fault && error.name === 'Unavailable'
}
