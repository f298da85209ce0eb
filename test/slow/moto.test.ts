import { randomBytes } from 'node:crypto'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeEach, describe } from 'vitest'
import { lambdaClock } from '../../functions/aws/core.ts'
import { graphStoreOn } from '../../functions/aws/graph-store/graph-store.ts'
import { openObjects } from '../../functions/aws/objects.ts'
import { runStoreOn } from '../../functions/aws/run-store/run-store.ts'
import { tokensOn } from '../../functions/aws/tokens.ts'
import { AT } from '../conformance/graph-fixture.ts'
import { graphStoreSuite } from '../conformance/graph-store-suite.ts'
import { objectStoreSuite } from '../conformance/object-store-suite.ts'
import { damageItem } from '../conformance/run-store-damage.ts'
import { time } from '../conformance/run-store-fixture.ts'
import { runStoreSuite } from '../conformance/run-store-suite.ts'
import { tokensSuite } from '../conformance/tokens-suite.ts'
import { REGION } from '../emulators/aws-client.ts'
import { dynamodbAt } from '../emulators/dynamodb.ts'
import { startMotoServer } from '../emulators/moto.ts'
import { s3At } from '../emulators/s3.ts'
import { awsSettings } from '../integration/aws/aws-settings.ts'

/**
 * The four suites of the ports on AWS, on moto: an implementation in Python that knows nothing of ours, and refuses much of
 * what the others accept. Where it is not installed they are left out, which is said.
 */
const moto = await startMotoServer()
if (moto === undefined) console.log('moto: skipped, python3 with the package moto (server) is not installed')

/** Its conditional writes are not atomic: two that come at once may both find their condition true. */
const ONE_AT_A_TIME = 1

/**
 * It copies an item at each write: what writes a thousand times into one takes minutes. And it answers 500 to an update that
 * moves 64 approvals and owes 128 effects.
 */
const NOT_SUPPORTED = /a thousand|appends at once|as many as calls of a turn/

describe.skipIf(moto === undefined)('moto', async () => {
  beforeEach(({ task, skip }) => skip(NOT_SUPPORTED.test(task.name), 'moto is too slow for it, or breaks'))
  const port = moto?.port ?? 0
  const emulator = await dynamodbAt(port, async () => undefined, ONE_AT_A_TIME)
  const s3 = s3At(`http://127.0.0.1:${port}`, 'sluice-moto', async () => undefined)
  if (moto !== undefined) await makeBucket()
  afterAll(async () => {
    await s3.close()
    await emulator.close()
    await moto?.stop()
  })

  async function makeBucket(): Promise<void> {
    const client = new S3Client(s3.config)
    const CreateBucketConfiguration = { LocationConstraint: REGION } as const
    await client.send(new CreateBucketCommand({ Bucket: s3.bucket, CreateBucketConfiguration }))
    client.destroy()
  }

  const ids = { random: (bytes: number) => randomBytes(bytes) }
  const clientOf = () => new DynamoDBClient(emulator.aws)

  runStoreSuite('DynamoDB (moto)', async () => {
    const table = await emulator.createTable()
    const clock = { now: () => Date.parse(time(1_000_000)), delay: lambdaClock.delay }
    let client = clientOf()
    return {
      store: runStoreOn({ client, table, clock, ids }),
      damage: (run, damage) => damageItem(client, table)(run, damage),
      async reopen() {
        client.destroy()
        client = clientOf()
        return runStoreOn({ client, table, clock, ids })
      },
      close: async () => client.destroy(),
    }
  })

  graphStoreSuite('DynamoDB (moto)', async () => {
    const client = clientOf()
    const clock = { now: () => Date.parse(AT), delay: lambdaClock.delay }
    const table = await emulator.createTable()
    return { store: graphStoreOn({ client, table, clock, ids }), runs: 6, close: async () => client.destroy() }
  })

  tokensSuite('DynamoDB (moto)', async () => {
    const client = clientOf()
    const tokens = tokensOn({ client, table: await emulator.createTable(), clock: lambdaClock, ids })
    return { tokens, close: async () => client.destroy() }
  })

  objectStoreSuite('S3 (moto)', async () => ({
    store: openObjects({ env: awsSettings({ BUCKET: s3.bucket }) }, s3.config),
    damage: (ref, body) => {
      const [tenant = '', hash = ''] = ref.slice('objstore://'.length).split('/')
      return s3.put(`${tenant}/objects/${hash.slice(0, 2)}/${hash}`, body)
    },
    age: undefined,
    close: async () => undefined,
  }))
})
