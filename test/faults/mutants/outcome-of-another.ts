import { StepOutcomeSchema } from '../../../shared/steps/step-order.ts'
import type { Mutant } from '../mutant.ts'
import { readAsNow } from './with-ports.ts'

export const outcomeOfAnother: Mutant = {
  name: 'outcome-of-another',
  what: 'what one attempt of a step came to is taken for the attempt that took its place',
  world(world, name) {
    if (name !== 'run-block') return world
    return readAsNow(
      world,
      (body) => StepOutcomeSchema.safeParse(body).data?.key,
      (body, key) => ({ ...StepOutcomeSchema.parse(body), key }),
    )
  },
}
