import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { mentionFinder } from '../../functions/search/find-mentions.ts'
import { storedGraph } from '../../functions/search/graph-image.ts'
import { passagesIn } from '../../functions/search/index-file.ts'
import { openSnapshotIndex } from '../../functions/search/index-reader.ts'
import { indexWriter } from '../../functions/search/index-writer.ts'
import { loadGraph } from '../../functions/search/load-graph.ts'
import { publishIndex } from '../../functions/search/publish-index.ts'
import { openDatabase } from '../../infra/local/database.ts'
import { openObjects } from '../../infra/local/folder-objects.ts'
import { openGraphStore } from '../../infra/local/graph-store/graph-store.ts'
import { openLocalIndex } from '../../infra/local/search-index.ts'
import { AT, idOf, place } from './graph-fixture.ts'
import { searchIndexSuite } from './search-index-suite.ts'

const LATER = '2027-01-01T00:00:00.000Z'

/** A graph, objects, and a clock the test moves. */
function openParts() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-index-'))
  const db = openDatabase(':memory:')
  let now = Date.parse(AT)
  const clock = { now: () => now }
  return {
    folder,
    clock,
    wait: (ms: number) => {
      now += ms
    },
    graph: openGraphStore(db, clock),
    objects: openObjects(join(folder, 'objects')),
    snapshots: openObjects(join(folder, 'objects')),
    links: true,
    ids: { random: (bytes: number) => randomBytes(bytes) },
    close: () => {
      db.close()
      rmSync(folder, { recursive: true })
    },
  }
}

searchIndexSuite('a file of one process', async () => {
  const parts = openParts()
  let local = openLocalIndex(parts.folder, parts)
  return {
    ...parts,
    index: {
      search: (...asked) => local.index.search(...asked),
      lookup: (...asked) => local.index.lookup(...asked),
      spelling: (...asked) => local.index.spelling(...asked),
      diffuse: (...asked) => local.index.diffuse(...asked),
      follow: (...asked) => local.index.follow(...asked),
      links: (...asked) => local.index.links(...asked),
    },
    settle: async () => {},
    async lose() {
      local.close()
      for (const file of readdirSync(parts.folder).filter((name) => name.startsWith('index'))) {
        rmSync(join(parts.folder, file))
      }
      local = openLocalIndex(parts.folder, parts)
    },
    runs: 30,
    close: async () => {
      local.close()
      parts.close()
    },
  }
})

searchIndexSuite('published snapshots', async () => {
  const parts = openParts()
  return {
    ...parts,
    index: openSnapshotIndex({ ...parts, folder: join(parts.folder, 'open') }),
    settle: async (tenant) => {
      await publishIndex({ ...parts, tenant, until: LATER })
      parts.wait(5_000)
    },
    async lose(tenant) {
      const manifest = await parts.graph.manifest(tenant)
      if (manifest === undefined) return
      await parts.graph.moveManifest(tenant, manifest.version, {
        ...manifest,
        ref: `objstore://${tenant}/${'0'.repeat(64)}`,
      })
      // Something must be there to be done, else nobody looks.
      await parts.graph.put(tenant, [place('f')])
      await parts.graph.delete(tenant, [idOf('f')])
    },
    runs: 10,
    close: async () => parts.close(),
  }
})

describe('publishIndex()', () => {
  test('of several at once one wins; nothing is lost and nothing left in the folder', async () => {
    const parts = openParts()
    const source = { ...parts, tenant: 'main', until: LATER }
    await parts.graph.put('main', [place('a', ['b'])])
    const outcomes = await Promise.all([1, 2, 3].map(() => publishIndex(source)))
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(['lost', 'lost', 'published'])
    await parts.graph.put('main', [place('b')])
    expect(await publishIndex(source)).toEqual({ outcome: 'published', more: false })
    expect(await publishIndex(source)).toEqual({ outcome: 'unchanged', more: false })
    const index = openSnapshotIndex({ ...parts, folder: join(parts.folder, 'open') })
    expect((await index.search('main', { limit: 5 })).hits).toHaveLength(2)
    expect(readdirSync(parts.folder).toSorted()).toEqual(['objects', 'open'])
    parts.close()
  })

  test('a change whose writer never came back is applied, and leaves the log only when he must be dead', async () => {
    const parts = openParts()
    await parts.graph.put('main', [place('a')])
    const [open] = await parts.graph.changes('main', 1)
    if (open === undefined) throw new Error('no change was noted')
    const graph = { ...parts.graph, changes: async () => [{ ...open, ended: false }] }
    const dropped: string[] = []
    const source = {
      ...parts,
      graph: {
        ...graph,
        dropChanges: async (_: string, changes: readonly { id: string }[]) =>
          void dropped.push(...changes.map(({ id }) => id)),
      },
      tenant: 'main',
      until: LATER,
    }
    expect(await publishIndex(source)).toMatchObject({ outcome: 'published' })
    expect(dropped).toEqual([])
    parts.wait(21 * 60_000)
    expect(await publishIndex(source)).toMatchObject({ outcome: 'unchanged' })
    expect(dropped).toEqual([open.id])
    parts.close()
  })
})

describe('the setting graph.links', () => {
  const saga = place('saga', [], { snippet: 'Of Old Harbour.' })
  const harbour = place('harbour', [], { label: 'Old Harbour' })
  const asked = { entity_ids: [idOf('saga')], direction: 'out', limit: 5 } as const

  test('a local index is made anew when it is switched: off it has no mentions, on all of them', async () => {
    const parts = openParts()
    await parts.graph.put('main', [saga, harbour])
    for (const links of [true, false, true]) {
      const local = openLocalIndex(parts.folder, { ...parts, links })
      expect((await local.index.links('main', asked)).links).toHaveLength(links ? 1 : 0)
      const { hits } = await local.index.search('main', { text: 'harbour', limit: 5 })
      expect(hits).toHaveLength(2)
      local.close()
    }
    parts.close()
  })

  test('the next snapshot after it was switched is made anew, and readers open both', async () => {
    const parts = openParts()
    const index = openSnapshotIndex({ ...parts, folder: join(parts.folder, 'open') })
    await parts.graph.put('main', [saga, harbour])
    for (const links of [true, false, true]) {
      await publishIndex({ ...parts, tenant: 'main', until: LATER, links, anew: true })
      parts.wait(5_000)
      expect((await index.links('main', asked)).links).toHaveLength(links ? 1 : 0)
    }
    parts.close()
  })
})

describe('a local index that takes in what is put in numbers', () => {
  const asked = { entity_ids: [idOf('saga')], direction: 'out', limit: 5 } as const
  /** Of the file while nobody has it open. */
  const toBeSearched = (folder: string): readonly number[] => {
    const db = new DatabaseSync(join(folder, 'index.db'), { readOnly: true })
    const rows = db.prepare('SELECT passage FROM unsearched').all()
    db.close()
    return rows.map(({ passage }) => Number(passage))
  }

  test('searches each text for names once, when somebody asks, and after its process ended too', async () => {
    const parts = openParts()
    let local = openLocalIndex(parts.folder, parts)
    const many = Array.from({ length: 15 }, (_, at) => place(`p${at}`, [], { snippet: 'Of Old Harbour.' }))
    const saga = place('saga', [], { snippet: 'Of P3, and of Old Harbour.' })
    for (const put of [[saga], many, [place('harbour', [], { label: 'Old Harbour' })]]) {
      await parts.graph.put('main', put)
      await local.indexing.publish('main', LATER)
    }
    local.close()
    expect(toBeSearched(parts.folder)).toHaveLength(17)
    local = openLocalIndex(parts.folder, parts)
    const named = (await local.index.links('main', asked)).links.map(({ object }) => object)
    expect(named).toEqual([idOf('harbour'), idOf('p3')])
    local.close()
    expect(toBeSearched(parts.folder)).toEqual([])
    parts.close()
  })

  test('reads again only what may have a new name, where few are new', async () => {
    const parts = openParts()
    let local = openLocalIndex(parts.folder, parts)
    const many = Array.from({ length: 30 }, (_, at) => place(`p${at}`, [], { snippet: 'Nothing else.' }))
    await parts.graph.put('main', [place('saga', [], { snippet: 'Of Old Harbour.' }), ...many])
    expect((await local.index.links('main', asked)).links).toEqual([])
    local.close()
    const db = new DatabaseSync(join(parts.folder, 'index.db'))
    indexWriter(db, true).put(place('harbour', [], { label: 'Old Harbour' }), 'hash', '')
    expect(mentionFinder(db).begin()).toBe(2)
    db.close()
    local = openLocalIndex(parts.folder, parts)
    expect((await local.index.links('main', asked)).links).toMatchObject([{ object: idOf('harbour') }])
    local.close()
    parts.close()
  })
})

describe('what walks need is kept in the file', () => {
  const asked = { seeds: [{ entity_id: idOf('a'), weight: 1 }], limit: 5 }
  const kept = (file: string) => {
    const db = new DatabaseSync(file, { readOnly: true })
    try {
      return { image: storedGraph(db), made: loadGraph(db, passagesIn(db)) }
    } finally {
      db.close()
    }
  }

  test('by who asks of a local index, as its rows say, until something is written', async () => {
    const parts = openParts()
    const file = join(parts.folder, 'index.db')
    let local = openLocalIndex(parts.folder, parts)
    await parts.graph.put('main', [place('a', ['b'], { type: 'town' }), place('b', [], { snippet: 'North of A.' })])
    await local.index.search('main', { text: 'north', limit: 5 })
    local.close()
    expect(kept(file).image).toBeUndefined()
    local = openLocalIndex(parts.folder, parts)
    await local.index.diffuse('main', asked)
    local.close()
    const { image, made } = kept(file)
    expect(image).toEqual(made)
    expect(image?.adjacency.targets.length).toBeGreaterThan(0)
    local = openLocalIndex(parts.folder, parts)
    await parts.graph.put('main', [place('c', ['a'])])
    await local.index.search('main', { limit: 5 })
    local.close()
    expect(kept(file).image).toBeUndefined()
    local = openLocalIndex(parts.folder, parts)
    const { hits } = await local.index.diffuse('main', asked)
    expect(hits.map(({ entity_id }) => entity_id)).toContain(idOf('c'))
    await parts.graph.delete('main', [idOf('b')])
    await local.index.search('main', { limit: 5 })
    local.close()
    expect(kept(file).image).toBeUndefined()
    parts.close()
  })

  test('by who publishes a snapshot', async () => {
    const parts = openParts()
    await parts.graph.put('main', [place('a', ['b']), place('b')])
    await publishIndex({ ...parts, tenant: 'main', until: LATER })
    const manifest = await parts.graph.manifest('main')
    const file = join(parts.folder, 'published.db')
    writeFileSync(file, await parts.snapshots.get('main', manifest?.ref ?? ''))
    const { image, made } = kept(file)
    expect(image).toEqual(made)
    parts.close()
  })
})

describe('openSnapshotIndex()', () => {
  test('looks at the manifest each 5 s at most, and answers from the older one while the newer cannot be had', async () => {
    const parts = openParts()
    const source = { ...parts, tenant: 'main', until: LATER }
    let looks = 0
    const graph = {
      manifest: (tenant: string) => {
        looks += 1
        return parts.graph.manifest(tenant)
      },
    }
    const index = openSnapshotIndex({ ...parts, graph, folder: join(parts.folder, 'open') })
    const labels = async () => (await index.search('main', { limit: 5 })).hits.map(({ label }) => label)
    await parts.graph.put('main', [place('a')])
    await publishIndex(source)
    expect(await Promise.all([labels(), labels(), labels()])).toEqual([['A'], ['A'], ['A']])
    expect(looks).toBe(1)
    await parts.graph.put('main', [place('b')])
    await publishIndex(source)
    expect(await labels()).toEqual(['A'])
    parts.wait(5_000)
    expect((await labels()).toSorted()).toEqual(['A', 'B'])
    expect(looks).toBe(2)
    await parts.graph.moveManifest('main', 2, { ref: `objstore://main/${'0'.repeat(64)}`, as_of: AT })
    parts.wait(5_000)
    expect(await labels()).toHaveLength(2)
    expect(readdirSync(join(parts.folder, 'open'))).toHaveLength(1)
    parts.close()
  })
})
