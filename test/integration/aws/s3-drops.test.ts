import { DeleteObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { openDrops } from '../../../functions/aws/drops.ts'
import { dropsSuite } from '../../conformance/drops-suite.ts'
import { startVersionedS3 } from '../../emulators/versioned-s3.ts'

dropsSuite('S3', async () => {
  const s3 = await startVersionedS3('drops')
  const client = new S3Client(s3.config)
  const Bucket = s3.bucket
  const env = { STAGE: 'dev', AWS_REGION: 'eu-central-1', DROPS: Bucket, SLUICE_LOG: 'error', functions: {} } as const
  return {
    drops: openDrops({ env }, s3.config),
    async drop(Key, Body) {
      return (await client.send(new PutObjectCommand({ Bucket, Key, Body }))).VersionId ?? ''
    },
    async remove(Key, VersionId) {
      await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }))
    },
    async close() {
      client.destroy()
      await s3.close()
    },
  }
})
