import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { openDrops } from '../../infra/local/drops.ts'
import { dropsSuite } from './drops-suite.ts'

let dropped = 0

/** Writes it, at a time of its own: a disk may give two writes the same. */
function write(folder: string, key: string, body: Uint8Array): string {
  const path = join(folder, key)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, body)
  dropped += 1
  utimesSync(path, 1_790_000_000 + dropped, 1_790_000_000 + dropped)
  const { mtimeMs, size } = statSync(path)
  return `${Math.round(mtimeMs * 1_000)}-${size}`
}

dropsSuite('a folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-drops-'))
  return {
    drops: openDrops(folder),
    drop: async (key, body) => write(folder, key, body),
    remove: async (key) => rmSync(join(folder, key)),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
})

test('nothing outside of the folder is read: neither by a path nor by a link', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'sluice-drops-'))
  const folder = join(outside, 'inputs')
  mkdirSync(folder)
  const version = write(outside, 'secret', new Uint8Array(Buffer.from('secret')))
  symlinkSync(join(outside, 'secret'), join(folder, 'link'))
  const drops = openDrops(folder)
  for (const key of ['../secret', 'link']) expect(await drops.read({ key, version }, 100)).toEqual({ is: 'gone' })
  rmSync(outside, { recursive: true, force: true })
})
