import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { Fault } from '../../shared/errors.ts'
import { createHealth, type Health } from '../../shared/ports/health.ts'
import { type Core, requiredVariable } from './core.ts'
import { as } from './run-store/item-encoding.ts'
import { openTable } from './run-store/table.ts'
import { CLIENT_OPTIONS } from './sdk.ts'

/** Well beyond the patience of a look: what is slow is told as not answered yet, and only what gives no answer as failed. */
const REQUEST_MS = 5_000
const DAY_SEC = 86_400

/** One item for all, of no tenant: it is written over, and the table drops it a day after the last look. */
const KEY = { pk: as.text('HEALTH'), sk: as.text('PROBE') }

/**
 * What a deployment is looked at for: the table, which everything that is started goes through. The bucket is no part of it:
 * this function has no right to it. The rest is AWS's own, and is watched by the alarms (docs/operate.md): it is told as
 * unchecked, and never as good.
 */
export function openHealth(
  { env, clock, ids }: Pick<Core, 'env' | 'clock' | 'ids'>,
  config: DynamoDBClientConfig = {},
): Health {
  const requestHandler = { ...CLIENT_OPTIONS.requestHandler, requestTimeout: REQUEST_MS }
  const client = new DynamoDBClient({ ...CLIENT_OPTIONS, requestHandler, maxAttempts: 1, ...config })
  const table = openTable({ client, table: requiredVariable(env, 'TABLE'), clock, ids })
  const readItem = async () => void (await table.get(KEY))
  const writeItem = async () => {
    const ttl = as.number(Math.floor(clock.now() / 1_000) + DAY_SEC)
    const { ok } = await table.put({ ...KEY, w: as.text(table.nonce()), ttl })
    if (!ok) throw new Fault('Unavailable', 'store_unavailable', 'The table refused the write.')
  }
  const health = createHealth(
    {
      reads: { checked: 'an item of the table was read; objects in the bucket were not', probe: readItem },
      writes: { checked: 'an item was written to the table; objects in the bucket were not', probe: writeItem },
      machine: { checked: 'nothing', probe: 'Step Functions is watched by the alarms of the stage' },
      isolates: { checked: 'nothing', probe: 'isolates live in the functions that need them' },
    },
    clock,
  )
  return { look: () => health.look() }
}
