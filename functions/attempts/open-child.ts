import * as z from 'zod'
import { MachineSignal } from '../../shared/errors.ts'
import { functionHandler, type HostContext } from '../handler.ts'
import { MachineInputSchema, toRunKey } from '../record/read-run.ts'
import { advanceBlock, guardBlock } from './advance.ts'
import { type BlockCall, openBlockCall } from './block-call.ts'
import { tryChild } from './child.ts'

const InputSchema = z.strictObject({
  in: MachineInputSchema,
  block: z.string().min(1),
  token: z.string().min(1),
  e: z.int().min(0).optional(),
})

/**
 * `<id>` of a `mode: dag` block: opens its child run, whose end answers the task token. Where there is nothing to wait
 * for (a skip, a refusal, a failure before the child, a retry that is not due) the token is answered at once and
 * `_close_<id>` does the rest (docs/adr/0024).
 */
export const handler = functionHandler({
  name: 'open-child',
  input: InputSchema,
  async run({ in: input, token, ...place }, world, host) {
    const call = await openBlockCall(world, toRunKey(input), place)
    if (!(await isAwaiting(call, token, host))) await world.machine.answer(token, { ok: {} })
    return {}
  },
})

async function isAwaiting(call: BlockCall, token: string, host: HostContext): Promise<boolean> {
  const open = (now: BlockCall, undecided: boolean) => tryChild(now, token, undecided, host.signal)
  try {
    const report = await guardBlock(call, host, () => advanceBlock(call, open))
    return report.state === 'running'
  } catch (error) {
    // The state that waits knows neither RetryBlock nor AskPerson: `_close_<id>` finds the same and raises it.
    if (error instanceof MachineSignal) return false
    throw error
  }
}
