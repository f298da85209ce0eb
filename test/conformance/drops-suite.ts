import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Drops } from '../../shared/triggers/drops.ts'

export interface DropPlace {
  readonly drops: Drops
  /** As somebody drops it; answers its version. */
  drop(key: string, body: Uint8Array): Promise<string>
  /** The newest of its name, or all there is. */
  remove(key: string, version: string): Promise<void>
  close(): Promise<void>
}

/** What a place must keep to for triggers by objects. */
export function dropsSuite(name: string, open: () => Promise<DropPlace>): void {
  describe(`Drops: ${name}`, () => {
    let place: DropPlace
    beforeEach(async () => {
      place = await open()
    })
    afterEach(() => place.close())
    const read = (key: string, version: string, most = 1_000) => place.drops.read({ key, version }, most)
    const bytes = (text: string) => new Uint8Array(Buffer.from(text))

    test('a version is read whole, under keys as people name them', async () => {
      for (const key of ['inbox/a.csv', 'inbox/with space & plus+.csv', 'inbox/\u00fcber/\u4e2d.csv', 'flat']) {
        const version = await place.drop(key, bytes(`of ${key}`))
        const found = await read(key, version)
        expect([key, found.is === 'there' && Buffer.from(found.body).toString()]).toEqual([key, `of ${key}`])
      }
      const version = await place.drop('inbox/empty', bytes(''))
      expect(await read('inbox/empty', version)).toMatchObject({ is: 'there' })
    })

    test('it has its most bytes and no more', async () => {
      const version = await place.drop('a', bytes('12345'))
      expect(await read('a', version, 5)).toMatchObject({ is: 'there' })
      expect(await read('a', version, 4)).toEqual({ is: 'too_large', bytes: 5 })
    })

    test('another version is never taken for it; what is gone is gone', async () => {
      const first = await place.drop('a', bytes('one'))
      const second = await place.drop('a', bytes('second'))
      expect(second).not.toBe(first)
      const found = await read('a', first)
      if (found.is === 'there') expect(Buffer.from(found.body).toString()).toBe('one')
      else expect(found).toEqual({ is: 'gone' })
      const newest = await read('a', second)
      expect(newest.is === 'there' && Buffer.from(newest.body).toString()).toBe('second')
      await place.remove('a', second)
      expect(await read('a', second)).toEqual({ is: 'gone' })
      expect(await read('nobody/was/here', first)).toEqual({ is: 'gone' })
    })
  })
}
