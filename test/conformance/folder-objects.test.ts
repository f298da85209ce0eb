import fs, { cpSync, existsSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { onTransactions, openDatabase } from '../../infra/local/database.ts'
import { openObjects } from '../../infra/local/folder-objects.ts'
import { MOST_IN_DATABASE, MOST_IN_ROW, openStoredObjects } from '../../infra/local/stored-objects.ts'
import type { ObjectStore } from '../../shared/ports/objects.ts'
import { objectStoreSuite } from './object-store-suite.ts'

for (const durability of ['normal', 'full'] as const) {
  objectStoreSuite(`folder, durability ${durability}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-objects-'))
    const pathOf = (ref: string) => {
      const [tenant = '', hash = ''] = ref.slice('objstore://'.length).split('/')
      return join(folder, tenant, 'objects', hash.slice(0, 2), hash)
    }
    return {
      store: openObjects(folder, durability),
      damage: async (ref, body) => writeFileSync(pathOf(ref), body),
      age: {
        read: async (ref) => statSync(pathOf(ref)).mtimeMs,
        set: async (ref, ms) => utimesSync(pathOf(ref), ms / 1_000, ms / 1_000),
      },
      close: async () => rmSync(folder, { recursive: true, force: true }),
    }
  })
}

test('durability full waits for the disk at the first put of a process, and not for what it waited for before', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-objects-'))
  const waits = vi.spyOn(fs, 'fsyncSync')
  syncBuiltinESMExports()
  const body = Buffer.alloc(2_000, 'document ')
  const waited = async (store: ObjectStore) => {
    waits.mockClear()
    await store.put('main', body)
    return waits.mock.calls.length > 0
  }
  try {
    const store = openObjects(folder, 'full')
    expect([await waited(openObjects(folder)), await waited(store), await waited(store)]).toEqual([false, true, false])
    rmSync(folder, { recursive: true })
    expect(await waited(store)).toBe(true)
  } finally {
    waits.mockRestore()
    syncBuiltinESMExports()
    rmSync(folder, { recursive: true, force: true })
  }
})

const ROW = 'tenant = ? AND sha256 = unhex(?)'

objectStoreSuite('database, and a folder for what is large', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-objects-'))
  const db = openDatabase(folder)
  const parts = (ref: string) => ref.slice('objstore://'.length).split('/')
  return {
    store: openStoredObjects(db, openObjects(folder)),
    damage: async (ref, body) => {
      expect(db.prepare(`UPDATE objects SET body = ? WHERE ${ROW}`).run(body, ...parts(ref)).changes).toBe(1)
    },
    age: {
      read: async (ref) =>
        Number(db.prepare(`SELECT written_at FROM objects WHERE ${ROW}`).get(...parts(ref))?.written_at),
      set: async (ref, ms) => void db.prepare(`UPDATE objects SET written_at = ? WHERE ${ROW}`).run(ms, ...parts(ref)),
    },
    close: async () => {
      db.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
})

test('a body of 880 bytes is a row, which keeps to its page; up to 16 KiB it lies behind the others; one more is a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-objects-'))
  const db = openDatabase(folder)
  const store = openStoredObjects(db, openObjects(folder))
  const tenant = 't'.repeat(64)
  for (let i = 0; i < 20; i += 1) await store.put(tenant, Buffer.alloc(MOST_IN_ROW, `row ${i}`))
  const pages = db.prepare("SELECT count(*) AS n FROM dbstat WHERE name = 'objects' AND pagetype = 'overflow'").get()
  expect(pages).toEqual({ n: 0 })
  expect(existsSync(join(folder, tenant))).toBe(false)
  for (const bytes of [MOST_IN_ROW + 1, MOST_IN_DATABASE]) {
    const long = await store.put(tenant, Buffer.alloc(bytes, 'long'))
    expect(Buffer.from(await store.get(tenant, long.ref))).toEqual(Buffer.alloc(bytes, 'long'))
  }
  const counts = ['objects', 'long_objects', 'long_bodies'].map((table) =>
    Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n),
  )
  expect(counts).toEqual([20, 2, 2])
  expect(existsSync(join(folder, tenant))).toBe(false)
  const large = await store.put(tenant, Buffer.alloc(MOST_IN_DATABASE + 1, 'file'))
  expect(statSync(join(folder, tenant, 'objects', large.sha256.slice(0, 2), large.sha256)).size).toBe(
    MOST_IN_DATABASE + 1,
  )
  expect(Buffer.from(await store.get(tenant, large.ref)).byteLength).toBe(MOST_IN_DATABASE + 1)
  db.close()
  rmSync(folder, { recursive: true, force: true })
})

test('a long body that is put again is stored once, mended where it was damaged, and its age restarts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-objects-'))
  const db = openDatabase(folder)
  const store = openStoredObjects(db, openObjects(folder))
  const body = Buffer.alloc(3_000, 'long')
  const { ref } = await store.put('main', body)
  db.exec("UPDATE long_objects SET written_at = 7; UPDATE long_bodies SET body = x'00'")
  await expect(store.get('main', ref)).rejects.toMatchObject({ code: 'object_corrupt' })
  for (let times = 0; times < 2; times += 1) await store.put('main', body)
  expect(Buffer.from(await store.get('main', ref))).toEqual(body)
  expect(db.prepare('SELECT count(*) AS n FROM long_bodies').get()).toEqual({ n: 1 })
  expect(Number(db.prepare('SELECT written_at AS at FROM long_objects').get()?.at)).toBeGreaterThan(7)
  expect(await store.has('other', ref.replace('main', 'other'))).toBe(false)
  db.exec('DELETE FROM long_bodies')
  await store.put('main', body)
  expect(Buffer.from(await store.get('main', ref))).toEqual(body)
  db.close()
  rmSync(folder, { recursive: true, force: true })
})

test('small bodies that are files of an earlier version are read, and are rows once they are put again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-objects-'))
  const files = openObjects(folder)
  const { ref } = await files.put('main', Buffer.from('small'))
  const db = openDatabase(folder)
  const store = openStoredObjects(db, files)
  expect(await store.has('main', ref)).toBe(true)
  expect(Buffer.from(await store.get('main', ref)).toString()).toBe('small')
  await store.put('main', Buffer.from('small'))
  rmSync(join(folder, 'main'), { recursive: true })
  expect(await store.has('main', ref)).toBe(true)
  expect(Buffer.from(await store.get('main', ref)).toString()).toBe('small')
  db.close()
  rmSync(folder, { recursive: true, force: true })
})

test('puts of one turn share a commit, and are in the file once they have been answered', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-objects-'))
  const db = openDatabase(folder)
  const store = openStoredObjects(db, openObjects(folder))
  let commits = 0
  onTransactions(db, {
    afterCommit: () => {
      commits += 1
    },
  })
  const puts = await Promise.all(Array.from({ length: 50 }, (_, i) => store.put('main', Buffer.from(`${i}`))))
  expect(commits).toBe(1)
  cpSync(folder, `${folder}-killed`, { recursive: true })
  const copy = openDatabase(`${folder}-killed`)
  const after = openStoredObjects(copy, openObjects(`${folder}-killed`))
  for (const { ref } of puts) expect(await after.has('main', ref)).toBe(true)
  for (const one of [db, copy]) one.close()
  for (const one of [folder, `${folder}-killed`]) rmSync(one, { recursive: true, force: true })
})
