import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { lambdaClock } from '../../../functions/aws/core.ts'
import { openGraphStore } from '../../../functions/aws/graph-store/graph-store.ts'
import { openObjects } from '../../../functions/aws/objects.ts'
import { openIndexing, openSearchIndex } from '../../../functions/aws/search-index.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { AT } from '../../conformance/graph-fixture.ts'
import { searchIndexSuite } from '../../conformance/search-index-suite.ts'
import { type DynamodbEmulator, startDynamodb } from '../../emulators/dynamodb.ts'
import { type S3Emulator, startS3 } from '../../emulators/s3.ts'
import { awsSettings } from './aws-settings.ts'

let dynamodb: DynamodbEmulator
let s3: S3Emulator
beforeAll(async () => {
  ;[dynamodb, s3] = await Promise.all([startDynamodb(), startS3()])
})
afterAll(() => Promise.all([dynamodb.close(), s3.close()]))

searchIndexSuite('DynamoDB and S3', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-aws-index-'))
  const env = awsSettings({ TABLE: await dynamodb.createTable(), BUCKET: s3.bucket })
  let now = Date.parse(AT)
  const core = {
    env,
    clock: { now: () => now, delay: lambdaClock.delay },
    ids: { random: (bytes: number) => randomBytes(bytes), boot: 'test' },
    settings: SettingsSchema.parse({}),
  }
  const graph = openGraphStore(core, dynamodb.aws)
  const objects = openObjects(core, s3.config)
  const indexing = openIndexing(core, { table: dynamodb.aws, bucket: s3.config, folder })
  return {
    graph,
    objects,
    index: openSearchIndex(core, { table: dynamodb.aws, bucket: s3.config, folder: join(folder, 'open') }),
    settle: async (tenant) => {
      await indexing.publish(tenant, '2027-01-01T00:00:00.000Z')
      now += 5_000
    },
    async lose(tenant) {
      const manifest = await graph.manifest(tenant)
      if (manifest === undefined) return
      await graph.moveManifest(tenant, manifest.version, { ...manifest, ref: `objstore://${tenant}/${'0'.repeat(64)}` })
    },
    runs: 3,
    close: async () => rmSync(folder, { recursive: true }),
  }
})
