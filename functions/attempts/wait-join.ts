import * as z from 'zod'
import { functionHandler } from '../handler.ts'
import { joinKey } from '../record/joins.ts'
import { MachineInputSchema, toRunKey } from '../record/pinned-run.ts'

const InputSchema = z.strictObject({
  in: MachineInputSchema,
  join: z.string().min(1),
  need: z.int().min(1),
  token: z.string().min(1),
  e: z.int().min(0).optional(),
})

/**
 * `_wait_<id>`: registers the task token of a join, or answers it at once when every source is done already (one
 * conditional write decides). Its return value is ignored by the machine.
 */
export const handler = functionHandler({
  name: 'wait-join',
  input: InputSchema,
  async run({ in: input, join, need, token, e }, world) {
    const waiting = await world.runs.waitJoin(toRunKey(input), joinKey(join, e), { need, token })
    if (waiting === 'done') await world.machine.answer(token, { ok: {} })
    return {}
  },
})
