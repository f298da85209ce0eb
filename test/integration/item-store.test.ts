import { randomBytes } from 'node:crypto'
import { lambdaClock } from '../../functions/aws/core.ts'
import { runStoreOn } from '../../functions/aws/run-store/run-store.ts'
import { damageItem } from '../conformance/run-store-damage.ts'
import { time } from '../conformance/run-store-fixture.ts'
import { runStoreSuite } from '../conformance/run-store-suite.ts'
import { createItemStore } from '../faults/item-store/create-item-store.ts'

runStoreSuite('DynamoDB (item store)', async () => {
  const { client } = createItemStore()
  const clock = { now: () => Date.parse(time(1_000_000)), delay: lambdaClock.delay }
  const open = () => runStoreOn({ client, table: 'runs', clock, ids: { random: (bytes) => randomBytes(bytes) } })
  return { store: open(), damage: damageItem(client, 'runs'), reopen: async () => open(), close: async () => {} }
})
