import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DeleteObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterEach, describe, expect, test } from 'vitest'
import { openAnchors } from '../../functions/aws/anchors.ts'
import { systemClock } from '../../infra/local/clock-and-log.ts'
import { openRunStore } from '../../infra/local/run-store/run-store.ts'
import { hashAfter } from '../../shared/runs/hash-chain.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { type LockedBucket, type LockedBucketOptions, startLockedBucket } from '../emulators/locked-bucket.ts'
import { awsSettings } from './aws/aws-settings.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

/** The handlers of a stage with anchors, on SQLite; the bucket is asked over the wire by the adapter of AWS. */
const DAG = {
  name: 'anchored',
  blocks: [
    {
      id: 'plan',
      outputs: { text: { type: 'string' } },
      agent: { provider: 'local', model: 'outline', prompt: 'A plan' },
    },
  ],
}
const ON = { audit: { anchor: 's3-object-lock' } }

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

async function bucketOf(options: LockedBucketOptions = {}): Promise<LockedBucket> {
  const bucket = await startLockedBucket(options)
  open.push(bucket)
  return bucket
}

function putForward(place: TestPlace, ms: number): void {
  Object.assign(place.place.world.clock, { now: () => Date.now() + ms, delay: systemClock.delay })
}

function withBucket(place: TestPlace, { bucket, config }: LockedBucket): void {
  Object.assign(place.place.world, { anchors: openAnchors({ env: awsSettings({ ANCHORS: bucket }) }, config) })
}

async function placeOf(bucket: LockedBucket, settings: object = ON): Promise<TestPlace> {
  const place = await openTestPlace({}, { ...settings })
  open.push(place)
  withBucket(place, bucket)
  return place
}

const run = (run_id: string) => ({ tenant: 'main', run_id })
const owed = async (place: TestPlace, id: string) => {
  const head = await place.place.world.runs.head(run(id), [])
  return head?.outbox.map(({ kind }) => kind)
}
const settled = (place: TestPlace, id: string) => expect.poll(() => owed(place, id)).toEqual([])

interface Verified {
  readonly ok: boolean
  readonly anchor: { readonly seq: number; readonly hash: string; readonly locked_until?: string } | null
  readonly seal: { readonly seq: number; readonly hash: string } | null
  readonly checks: readonly { n: number; ok: boolean; problems: readonly string[]; left_out?: string }[]
}
async function verify(place: TestPlace, id: string) {
  const { json } = await place.call('verify-run', id)
  const answer = json as unknown as Verified
  return { ...answer, check: answer.checks.find(({ n }) => n === 41) }
}

async function anchored(bucket: LockedBucket) {
  const place = await placeOf(bucket)
  const id = await place.start(DAG)
  const events = await place.ended(id)
  await settled(place, id)
  return { place, id, key: `anchors/main/${id}/${events.length}` }
}

describe('an ended run', () => {
  test('is anchored once, with the hash its chain is closed at, and verified against it', async () => {
    const bucket = await bucketOf()
    const { place, id, key } = await anchored(bucket)
    const { ok, anchor, seal, check } = await verify(place, id)
    expect([ok, check?.ok, check?.left_out]).toEqual([true, true, undefined])
    expect(anchor).toMatchObject({ seq: seal?.seq, hash: seal?.hash, events: seal?.seq, key })
    expect(Date.parse(anchor?.locked_until ?? '') - Date.now()).toBeGreaterThan(364 * 86_400_000)
    expect(bucket.answered.filter((line) => line.startsWith('PUT'))).toEqual([`PUT ${key} 200`])
  })

  test('that failed, or was stopped, is anchored too', async () => {
    const bucket = await bucketOf()
    const place = await placeOf(bucket)
    const [block] = DAG.blocks
    const check = { type: 'contains', port: 'text', values: ['nobody writes this'] }
    const post_gates = [{ name: 'never', check }]
    const id = await place.start({ ...DAG, blocks: [{ ...block, post_gates }] })
    expect((await place.ended(id)).at(-1)?.type).toBe('run:failed')
    await settled(place, id)
    expect((await verify(place, id)).check).toMatchObject({ ok: true })
  })

  test('is anchored once more by nobody: an answer that is lost leaves the one that was put', async () => {
    const bucket = await bucketOf()
    const place = await placeOf(bucket)
    bucket.loseAnswers('PUT', 1)
    const id = await place.start(DAG)
    await place.ended(id)
    await settled(place, id)
    const puts = bucket.answered.filter((line) => line.startsWith('PUT'))
    expect(puts.map((line) => line.split(' ').at(-1))).toEqual(['200', '412'])
    expect(await verify(place, id)).toMatchObject({ ok: true, check: { ok: true } })
  })

  test('still owes its anchor after whoever was to write it died, and gets it from the sweep', async () => {
    const bucket = await bucketOf()
    const place = await openTestPlace({}, ON)
    open.push(place)
    // Nobody could put it: the function has no bucket.
    const id = await place.start(DAG)
    await place.ended(id)
    await expect.poll(() => owed(place, id)).toEqual(['anchor'])
    // Whoever is answered knows that it is in the file.
    await place.call('get-run', id)
    await place.kill()
    expect(await owed(place, id)).toEqual(['anchor'])
    withBucket(place, bucket)
    putForward(place, 120_000)
    await settled(place, id)
    expect(await verify(place, id)).toMatchObject({ ok: true, check: { ok: true } })
  })
})

describe('run verify finds', () => {
  test('a record that was written anew whole, its hash chain too', async () => {
    const bucket = await bucketOf()
    const { place, id } = await anchored(bucket)
    const copy = join(place.folder, 'copy')
    cpSync(join(place.folder, 'data'), copy, { recursive: true })
    const db = new DatabaseSync(join(copy, 'sluice.db'))
    db.exec(`UPDATE events SET body = replace(body, '"starter":"', '"starter":"not-')`)
    const runs = openRunStore(db)
    // Whoever can write HEAD closes the chain over what he wrote.
    db.prepare('UPDATE runs SET sealed_hash = ? WHERE run_id = ?').run(
      hashAfter(await runs.events(run(id), 0, 1_000)),
      id,
    )
    Object.assign(place.place.world, { runs })
    const { checks, check } = await verify(place, id)
    expect(checks.find(({ n }) => n === 0)).toMatchObject({ ok: true })
    expect(check?.problems).toEqual([
      expect.stringMatching(/^at event \d+ the chain was [0-9a-f]{64} when it was anchored, and is [0-9a-f]{64} now$/),
    ])
  })

  test('an object that was put over the anchor, and a mark of deletion: the first one counts', async () => {
    const bucket = await bucketOf()
    const { place, id, key } = await anchored(bucket)
    const client = new S3Client(bucket.config)
    const Body = Buffer.from('{}')
    const ChecksumSHA256 = Buffer.from(sha256(Body), 'hex').toString('base64')
    await client.send(new PutObjectCommand({ Bucket: bucket.bucket, Key: key, Body, ChecksumSHA256 }))
    await client.send(new DeleteObjectCommand({ Bucket: bucket.bucket, Key: key }))
    const { anchor, check } = await verify(place, id)
    expect(check?.problems).toEqual([
      expect.stringContaining(`another object was put to ${key} at`),
      expect.stringContaining(`${key} was marked as deleted at`),
    ])
    expect(anchor?.hash).toMatch(/^[0-9a-f]{64}$/)
    const version = { Bucket: bucket.bucket, Key: key, VersionId: (anchor as { version_id?: string })?.version_id }
    await expect(client.send(new DeleteObjectCommand(version))).rejects.toMatchObject({ name: 'AccessDenied' })
    client.destroy()
  })

  test('a lock that somebody may take off', async () => {
    const { place, id, key } = await anchored(await bucketOf({ mode: 'GOVERNANCE' }))
    const { check } = await verify(place, id)
    expect(check?.problems).toEqual([`${key} is not locked: whoever may delete objects can delete it`])
  })

  test('no anchor, where there ought to be one for a quarter of an hour; before that it is left out', async () => {
    const place = await placeOf(await bucketOf())
    const id = await place.start(DAG)
    await place.ended(id)
    await settled(place, id)
    withBucket(place, await bucketOf())
    expect((await verify(place, id)).check?.left_out).toBe('not anchored yet: it ended less than 15 minutes ago')
    putForward(place, 16 * 60_000)
    const { ok, check } = await verify(place, id)
    expect([ok, check?.problems]).toEqual([
      false,
      [expect.stringMatching(/^there is no anchor, though the run ended at .* and audit\.anchor is s3-object-lock$/)],
    ])
  })
})

describe('run verify leaves out', () => {
  test('the anchor of a place without any', async () => {
    const place = await openTestPlace()
    open.push(place)
    const id = await place.start(DAG)
    await place.ended(id)
    expect((await verify(place, id)).check?.left_out).toBe('not anchored: audit.anchor is none in the settings')
  })

  test('that of a run that goes on, or started before anchors were on and has none', async () => {
    const bucket = await bucketOf()
    const place = await placeOf(bucket, {})
    const id = await place.start(DAG)
    await place.ended(id)
    Object.assign(place.place.world.settings, { audit: { anchor: 's3-object-lock', retention_days: 365 } })
    const why = 'not anchored: the run started before audit.anchor was set'
    expect((await verify(place, id)).check?.left_out).toBe(why)
  })
})
