import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openObjects } from '../../infra/local/folder-objects.ts'
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
