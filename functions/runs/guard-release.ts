import * as z from 'zod'
import { functionHandler } from '../handler.ts'

/**
 * CloudWatch's "Alarm State Change" of the alarm that watches the deployed release: new runs begin with the release before it
 * again. Runs under way keep what they began with. EventBridge may tell of an alarm more than once: what was taken back is
 * nothing to take back.
 */
export const handler = functionHandler({
  name: 'guard-release',
  input: z.looseObject({
    detail: z.looseObject({ alarmName: z.string().min(1), state: z.looseObject({ value: z.string() }) }),
  }),
  async run({ detail }, world) {
    if (detail.state.value !== 'ALARM') return { done: 'nothing' }
    const done = await world.machine.takeBack(`alarm ${detail.alarmName}`)
    if (done === 'taken_back') world.log.error('an alarm took the release back', { alarm: detail.alarmName })
    return { done }
  },
})
