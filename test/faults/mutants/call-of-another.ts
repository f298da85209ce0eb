import { CallOrderSchema } from '../../../shared/steps/native-order.ts'
import type { Mutant } from '../mutant.ts'
import { readAsNow } from './with-ports.ts'

export const callOfAnother: Mutant = {
  name: 'call-of-another',
  what: 'what AWS answered to one attempt is taken for the attempt that took its place',
  world(world, name) {
    if (name !== 'run-block') return world
    return readAsNow(
      world,
      (body) => CallOrderSchema.safeParse(body).data?.step.key,
      (body, key) => {
        const order = CallOrderSchema.parse(body)
        return { ...order, step: { ...order.step, key } }
      },
    )
  },
}
