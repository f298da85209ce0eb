import { probe, SILENT } from '../safety/safety-place.ts'
import { openTestPlace } from '../test-place.ts'
import { countingCalls, openApprovalsSuite } from './week-suite.ts'

openApprovalsSuite('SQLite', async (clock, max_runs) => {
  const options = { providers: probe(clock), log: SILENT, clock, sweep_ms: 0 }
  const open = await openTestPlace(options, { safety: { max_runs } })
  const { world } = open.place
  const looking = world.runs
  const { store, used } = countingCalls(looking)
  Object.assign(world, { runs: store })
  return { open, looking, used: () => ({ ...used(), wcu: 0, rcu: 0 }) }
})
