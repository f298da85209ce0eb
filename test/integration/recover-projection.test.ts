import { expect, test } from 'vitest'
import { recoverProjection } from '../../functions/record/projections.ts'
import { ordinal, PHASE } from '../../shared/runs/lane.ts'
import { block, probe } from './loop.ts'
import { openTestPlace } from './test-place.ts'

test.each([
  ['claimed', 'running'],
  ['completed', 'completed'],
] as const)(
  'a projection made again for a lane that was %s says %s, whatever came after (simulated seed 403106)',
  async (phase, state) => {
    const place = await openTestPlace({ providers: { probe: probe({}) } })
    try {
      const run_id = await place.start({ blocks: [block('a')] })
      await place.ended(run_id)
      const lane = ordinal({ epoch: 0, attempt: 1, phase: PHASE[phase] })
      const made = await recoverProjection(place.place.world, { tenant: 'main', run_id }, { block: 0 }, lane)
      expect(made).toMatchObject({ ordinal: lane, attempt: 1, state })
      expect(made.outputs !== undefined).toBe(state === 'completed')
    } finally {
      await place.close()
    }
  },
)
