import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterEach, expect, test } from 'vitest'
import { runStoreOn } from '../../functions/aws/run-store/run-store.ts'
import { createItemStore } from '../faults/item-store/create-item-store.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

/** The table's client; the first put of a HEAD never arrives. */
function losingOneHead(client: Pick<DynamoDBClient, 'send'>): Pick<DynamoDBClient, 'send'> {
  let lost = false
  const send = async (command: { readonly input: { readonly Item?: { readonly sk?: { readonly S?: string } } } }) => {
    if (!lost && command.input.Item?.sk?.S === 'HEAD') {
      lost = true
      throw Object.assign(new Error('lost'), { code: 'ECONNRESET' })
    }
    return client.send(command as never)
  }
  return { send: send as unknown as DynamoDBClient['send'] }
}

test('a start that died before HEAD was written is finished by the next one of the same key', async () => {
  const log = { info: () => undefined, error: () => undefined }
  open = await openTestPlace({ providers: { probe: provider(() => 'x') }, log })
  const { world } = open.place
  const { clock, ids } = world
  const runs = runStoreOn({ client: losingOneHead(createItemStore().client), table: 'runs', clock, ids })
  Object.assign(world, { runs })
  const blocks = [{ id: 'a', outputs: { text: 'string' }, agent: { provider: 'probe', model: 'm', prompt: 'x' } }]
  const start = () => open?.start({ blocks }, {}, { 'idempotency-key': 'once' })
  await expect(start()).rejects.toThrow('aws_unavailable')
  const run_id = (await start()) ?? ''
  expect(await runs.head({ tenant: 'main', run_id }, [])).toMatchObject({ seq: expect.any(Number) })
})
