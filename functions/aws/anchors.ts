import {
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3'
import { type Anchors, type AnchorVersion, anchorKey, anchorPrefix } from '../../shared/runs/anchors.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import type { Core } from './core.ts'
import { CLIENT_OPTIONS, sdkFault } from './sdk.ts'

/**
 * The Anchors port on a bucket with Object Lock, whose default retention (compliance mode) locks whatever is put. A lock
 * keeps versions, not names: somebody with the rights can still put another version over an anchor, or a mark of deletion.
 * So a put is refused by S3 where the name is taken, and a reader looks at every version. Undefined = no such bucket.
 */
export function openAnchors({ env }: Pick<Core, 'env'>, config: S3ClientConfig = {}): Anchors | undefined {
  return env.ANCHORS === undefined ? undefined : anchorsIn(env.ANCHORS, config)
}

function anchorsIn(Bucket: string, config: S3ClientConfig): Anchors {
  const client = new S3Client({ ...CLIENT_OPTIONS, ...config })
  return {
    async put(anchor) {
      const Body = Buffer.from(canonicalJson({ ...anchor }))
      const ChecksumSHA256 = Buffer.from(sha256(Body), 'hex').toString('base64')
      const command = new PutObjectCommand({ Bucket, Key: anchorKey(anchor), Body, ChecksumSHA256, IfNoneMatch: '*' })
      await client.send(command).catch((error: unknown) => {
        // Put before, by a call whose answer was lost, or by somebody else: `run verify` compares it with the log.
        if (error instanceof Error && error.name === 'PreconditionFailed') return
        throw sdkFault(error, { doing: 'anchor a run', action: 's3:PutObject' })
      })
    },
    async versions({ tenant, run_id }) {
      const Prefix = `${anchorPrefix(tenant)}${run_id}/`
      const listed = await list(client, Bucket, Prefix)
      return Promise.all(listed.map((version) => withBody(client, Bucket, version)))
    },
  }
}

type Listed = Omit<AnchorVersion, 'body' | 'locked_until'> & { readonly deleted: boolean }

/** S3 lists the newest version of a name first; of one second its order is what there is. More than a page is no run of ours. */
async function list(client: S3Client, Bucket: string, Prefix: string): Promise<readonly Listed[]> {
  const { Versions = [], DeleteMarkers = [] } = await client
    .send(new ListObjectVersionsCommand({ Bucket, Prefix }))
    .catch((error: unknown) => {
      throw sdkFault(error, { doing: 'look for an anchor', action: 's3:ListBucketVersions' })
    })
  const all = [
    ...Versions.map((version) => ({ ...version, deleted: false })),
    ...DeleteMarkers.map((marker) => ({ ...marker, deleted: true })),
  ]
  return all
    .map(({ Key = '', VersionId = 'null', LastModified, deleted }) => {
      return { key: Key, version_id: VersionId, written_at: (LastModified ?? new Date(0)).toISOString(), deleted }
    })
    .reverse()
    .sort((a, b) => Date.parse(a.written_at) - Date.parse(b.written_at) || Number(a.deleted) - Number(b.deleted))
}

async function withBody(client: S3Client, Bucket: string, { deleted, ...version }: Listed): Promise<AnchorVersion> {
  if (deleted) return version
  const command = new GetObjectCommand({ Bucket, Key: version.key, VersionId: version.version_id })
  const answer = await client.send(command).catch((error: unknown) => {
    throw sdkFault(error, { doing: 'read an anchor', action: 's3:GetObjectVersion' })
  })
  const { Body, ObjectLockMode, ObjectLockRetainUntilDate: until } = answer
  const body = Body === undefined ? '' : await Body.transformToString()
  // The other mode lets whoever has the right take the lock off.
  const isLocked = ObjectLockMode === 'COMPLIANCE' && until !== undefined
  return { ...version, body: body.slice(0, MOST_CHARS), ...(isLocked ? { locked_until: until.toISOString() } : {}) }
}

/** An anchor has some 300; what somebody else put there may have any number. */
const MOST_CHARS = 4_096
