import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openObjects } from '../../../functions/aws/objects.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { objectStoreSuite } from '../../conformance/object-store-suite.ts'
import { startAwsError } from '../../emulators/aws-error.ts'
import { startVersionedS3, type VersionedS3 } from '../../emulators/versioned-s3.ts'
import { firstDaily } from '../../how-much.ts'
import { awsSettings } from './aws-settings.ts'

const keyOf = (ref: string) => {
  const [tenant = '', hash = ''] = ref.slice('objstore://'.length).split('/')
  return `${tenant}/objects/${hash.slice(0, 2)}/${hash}`
}

let s3: VersionedS3
const open = () => openObjects({ env: awsSettings({ BUCKET: s3.bucket }) }, s3.config)
beforeAll(async () => {
  s3 = await startVersionedS3()
})
afterAll(() => s3.close())

objectStoreSuite('S3', async () => ({
  store: open(),
  damage: (ref, body) => s3.put(keyOf(ref), body),
  // No emulator lets a test set an object's age back: below it is waited for.
  age: undefined,
  close: async () => undefined,
}))

describe('S3 objects', () => {
  test('lie under <tenant>/objects/<aa>/<sha256>', async () => {
    const { ref, sha256: hash } = await open().put('main', Buffer.from('where'))
    expect(await s3.lastModified(`main/objects/${hash.slice(0, 2)}/${hash}`)).toBeGreaterThan(0)
    await s3.remove(keyOf(ref))
    await expect(open().get('main', ref)).rejects.toMatchObject({ name: 'NotFound', code: 'object_missing' })
  })

  test('are put again, so that their age restarts', async () => {
    const { ref } = await open().put('main', Buffer.from('old'))
    const before = await s3.lastModified(keyOf(ref))
    await sleep(1_100)
    await open().put('main', Buffer.from('old'))
    expect(await s3.lastModified(keyOf(ref))).toBeGreaterThan(before)
  })

  test('are erased with what the bucket kept of them: every version, and what a deletion only hid', async () => {
    const { ref } = await open().put('main', Buffer.from('hidden'))
    await open().put('main', Buffer.from('hidden'))
    await s3.remove(keyOf(ref))
    const left = () => s3.bodies().filter(({ body }) => body.toString() === 'hidden').length
    expect(left()).toBe(2)
    expect(await open().erase('main', ref, Date.now() + 60_000)).toBe(true)
    expect(left()).toBe(0)
  })

  test('a bucket that is not named in the environment is said by its name', () => {
    expect(() => openObjects({ env: awsSettings({}) })).toThrow(/environment value BUCKET is missing/)
  })
})

describe('S3 answers an error', () => {
  const ref = `objstore://main/${sha256('x')}`
  for (const { tags, rows } of firstDaily<[number, string, object]>(4, [
    [500, 'InternalError', { name: 'Unavailable', code: 'aws_unavailable' }],
    [403, 'AccessDenied', { name: 'Bug', code: 'aws_access_denied' }],
    [404, 'NoSuchBucket', { name: 'Bug', code: 'aws_refused' }],
    [404, 'NoSuchKey', { name: 'NotFound', code: 'object_missing' }],
    // The client waits for seconds before it asks a busy service again.
    [503, 'SlowDown', { name: 'Unavailable', code: 'aws_throttled' }],
  ])) {
    test.each(rows)('%i %s', { tags }, async (status, code, fault) => {
      const failing = await startAwsError(status, code)
      try {
        const store = openObjects(
          { env: awsSettings({ BUCKET: 'secret-bucket' }) },
          { ...failing.config, forcePathStyle: true },
        )
        const seen = await store.get('main', ref).catch((error) => error)
        expect(seen).toMatchObject(fault)
        expect(seen.message).not.toContain('secret-bucket')
        if (code === 'NoSuchKey') return
        await expect(store.put('main', Buffer.from('x'))).rejects.toMatchObject(fault)
      } finally {
        await failing.close()
      }
    })
  }

  test('nobody listens', async () => {
    const store = openObjects({ env: awsSettings({ BUCKET: 'b-1' }) }, { ...s3.config, endpoint: 'http://127.0.0.1:1' })
    await expect(store.put('main', Buffer.from('x'))).rejects.toMatchObject({ name: 'Unavailable' })
  })
})
