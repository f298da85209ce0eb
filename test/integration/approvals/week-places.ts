import { randomBytes } from 'node:crypto'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { runStoreOn } from '../../../functions/aws/run-store/run-store.ts'
import { createWaker } from '../../../infra/local/waker.ts'
import { createItemStore } from '../../faults/item-store/create-item-store.ts'
import { probe, SILENT } from '../safety/safety-place.ts'
import { openTestPlace } from '../test-place.ts'
import { countingCalls, type OpenWeek } from './week-suite.ts'

export const weekOnSqlite: OpenWeek = async (clock, max_runs) => {
  const options = { providers: probe(clock), log: SILENT, clock, sweep_ms: 0 }
  const open = await openTestPlace(options, { safety: { max_runs } })
  const { world } = open.place
  const looking = world.runs
  const { store, used } = countingCalls(looking)
  Object.assign(world, { runs: store })
  return { open, looking, used: () => ({ ...used(), wcu: 0, rcu: 0 }) }
}

/** The store of AWS on items in memory, which bills as AWS does; all else of the place is local. */
export const weekOnDynamodb: OpenWeek = async (clock, max_runs) => {
  const open = await openTestPlace(
    { providers: probe(clock), log: SILENT, clock, sweep_ms: 0 },
    { safety: { max_runs } },
  )
  const units = { wcu: 0, rcu: 0 }
  const { client } = createItemStore(({ wcu, rcu }) => {
    units.wcu += wcu
    units.rcu += rcu
  })
  const on = (client: Parameters<typeof runStoreOn>[0]['client']) =>
    runStoreOn({ client, table: 'runs', clock, ids: { random: (bytes) => randomBytes(bytes) } })
  const { store, used } = countingCalls(on(client))
  Object.assign(open.place.world, createWaker(store, clock))
  return {
    open,
    looking: on(unbilled(client, units)),
    used() {
      const seen = { ...used(), ...units }
      Object.assign(units, { wcu: 0, rcu: 0 })
      return seen
    },
  }
}

/** Does what it is asked within `send`: what that billed is taken back. */
function unbilled({ send }: Pick<DynamoDBClient, 'send'>, units: { wcu: number; rcu: number }) {
  const looked = (command: never) => {
    const before = { ...units }
    const answer = send(command)
    Object.assign(units, before)
    return answer
  }
  return { send: looked } as unknown as Pick<DynamoDBClient, 'send'>
}
