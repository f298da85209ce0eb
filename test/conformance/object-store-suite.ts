import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ObjectStore } from '../../shared/ports/objects.ts'
import { sha256 } from '../../shared/text/hash.ts'

export interface OpenedObjectStore {
  readonly store: ObjectStore
  /** Puts other bytes where the object of this ref lies, as a broken disk would. */
  damage(ref: string, body: Uint8Array): Promise<void>
  /** When the object's age last restarted, in milliseconds since 1970; the test may set it back. */
  age: { read(ref: string): Promise<number>; set(ref: string, ms: number): Promise<void> } | undefined
  close(): Promise<void>
}

/** What every object store promises (ObjectStore in shared/world.ts). A new place is admitted by one call of this. */
export function objectStoreSuite(name: string, open: () => Promise<OpenedObjectStore>): void {
  describe(`object store: ${name}`, () => {
    let opened: OpenedObjectStore
    beforeEach(async () => {
      opened = await open()
    })
    afterEach(() => opened.close())
    const put = (text: string, tenant = 'main') => opened.store.put(tenant, Buffer.from(text))
    const missing = { name: 'NotFound', code: 'object_missing' }

    test('gives back the very bytes under a ref made of tenant and sha256', async () => {
      const every = Uint8Array.from({ length: 256 }, (_, i) => i)
      const { ref, sha256: hash, bytes } = await opened.store.put('main', every)
      expect({ ref, hash, bytes }).toEqual({
        ref: `objstore://main/${sha256(every)}`,
        hash: sha256(every),
        bytes: 256,
      })
      expect(Buffer.from(await opened.store.get('main', ref)).equals(Buffer.from(every))).toBe(true)
    })

    test('tells whether an object is there, of its own tenant only', async () => {
      const { ref } = await put('here')
      const none = `objstore://main/${sha256('never stored')}`
      const answers = [ref, none, ref.replace('main', 'other')].map((one) => opened.store.has('main', one))
      expect(await Promise.all(answers)).toEqual([true, false, false])
      expect(await opened.store.has('other', ref)).toBe(false)
      await expect(opened.store.has('main', 'objstore://main/abc')).rejects.toMatchObject({ code: 'bad_object_ref' })
    })

    test('stores an empty body and one of 5 MiB', async () => {
      for (const body of [new Uint8Array(), Buffer.alloc(5 * 1_024 * 1_024, 'sluice')]) {
        const { ref, bytes } = await opened.store.put('main', body)
        expect(bytes).toBe(body.byteLength)
        expect(sha256(await opened.store.get('main', ref))).toBe(sha256(body))
      }
    })

    test('the same body has the same ref, however often and by how many it is put', async () => {
      const refs = await Promise.all(Array.from({ length: 20 }, () => put('same')))
      expect(new Set(refs.map(({ ref }) => ref)).size).toBe(1)
      expect(Buffer.from(await opened.store.get('main', refs[0]?.ref ?? '')).toString()).toBe('same')
    })

    test('putting it again restarts its age', async (context) => {
      if (opened.age === undefined) return context.skip()
      const { ref } = await put('old')
      await opened.age.set(ref, Date.UTC(2020, 0, 1))
      await put('old')
      expect(Date.now() - (await opened.age.read(ref))).toBeLessThan(60_000)
    })

    test('an erased body is gone, whoever put it how often; it can be put again', async () => {
      const { ref } = await put('forget me')
      await put('forget me')
      const { ref: other } = await put('remember me')
      const after = Date.now() + 60_000
      expect(await opened.store.erase('main', ref, after)).toBe(true)
      await expect(opened.store.get('main', ref)).rejects.toMatchObject(missing)
      expect([await opened.store.has('main', ref), await opened.store.has('main', other)]).toEqual([false, true])
      expect(await opened.store.erase('main', ref, after)).toBe(true)
      await put('forget me')
      expect(Buffer.from(await opened.store.get('main', ref)).toString()).toBe('forget me')
      await expect(opened.store.erase('other', ref, after)).rejects.toMatchObject(missing)
    })

    test('a body that was put since is not erased, also one that was there before', async () => {
      const { ref } = await put('wanted')
      const before = Date.now() - 60_000
      expect(await opened.store.erase('main', ref, before)).toBe(false)
      if (opened.age !== undefined) {
        await opened.age.set(ref, before - 1_000)
        await put('wanted')
        expect(await opened.store.erase('main', ref, before)).toBe(false)
      }
      expect(Buffer.from(await opened.store.get('main', ref)).toString()).toBe('wanted')
    })

    test('a body that was damaged is refused by name, and whole again once it is put again', async () => {
      const { ref } = await put('right')
      for (const wrong of ['rigth', 'righ', 'right!', '']) {
        await opened.damage(ref, Buffer.from(wrong))
        const refusal = { name: 'Bug', code: 'object_corrupt', message: expect.stringContaining(ref) }
        await expect(opened.store.get('main', ref)).rejects.toMatchObject(refusal)
        await put('right')
        expect(Buffer.from(await opened.store.get('main', ref)).toString()).toBe('right')
      }
    })

    test("another tenant's object answers exactly like one that is not there", async () => {
      const { ref } = await put('secret')
      const none = `objstore://main/${sha256('never stored')}`
      const seen = await opened.store.get('other', ref).catch((fault) => fault)
      const unseen = await opened.store.get('other', none).catch((fault) => fault)
      expect(seen).toMatchObject(missing)
      expect(seen.message.replaceAll(ref, 'REF')).toBe(unseen.message.replaceAll(none, 'REF'))
      await expect(opened.store.get('main', none)).rejects.toMatchObject(missing)
      const own = ref.replace('main', 'other')
      await expect(opened.store.get('other', own)).rejects.toMatchObject(missing)
    })

    test('two tenants may store the same body and do not share it', async () => {
      const [a, b] = [await put('both', 'a.b-c_1'), await put('both', 'B')]
      expect(a.sha256).toBe(b.sha256)
      expect(Buffer.from(await opened.store.get('a.b-c_1', a.ref)).toString()).toBe('both')
      await expect(opened.store.get('a.b-c_1', b.ref)).rejects.toMatchObject(missing)
    })

    test('refuses whatever is no ref, and tenants that are no names', async () => {
      const { ref, sha256: hash } = await put('x')
      const refs = [
        '',
        hash,
        ref.toUpperCase(),
        `${ref}\n`,
        ` ${ref}`,
        `${ref}/..`,
        ref.slice(0, -1),
        `${ref}0`,
        `s3://main/${hash}`,
        `objstore://main/../main/${hash}`,
        `objstore://../${hash}`,
        `objstore://ma%69n/${hash}`,
        `objstore:///${hash}`,
        `objstore://main/${'../'.repeat(21)}x`,
        `objstore://main\\${hash}`,
        `objstore://main/${hash.slice(0, 63)}\u0000`,
      ]
      for (const bad of refs) {
        await expect(opened.store.get('main', bad), bad).rejects.toMatchObject({ code: 'bad_object_ref' })
      }
      for (const tenant of ['', '..', '.', '../main', 'a/b', 'a\\b', '.hidden', 'a\u0000', 'a'.repeat(65)]) {
        await expect(put('x', tenant), tenant).rejects.toMatchObject({ name: 'Bug', code: 'bad_tenant' })
      }
    })
  })
}
