import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openGraphStore } from '../../../functions/aws/graph-store/graph-store.ts'
import { openObjects, openSnapshots } from '../../../functions/aws/objects.ts'
import { openRunStore } from '../../../functions/aws/run-store/run-store.ts'
import { openIndexing, openSearchIndex } from '../../../functions/aws/search-index.ts'
import { handler } from '../../../functions/graph/index-graph.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import type { World } from '../../../shared/world.ts'
import { AT, idOf, place } from '../../conformance/graph-fixture.ts'
import { type DynamodbEmulator, startDynamodb } from '../../emulators/dynamodb.ts'
import { type S3Emulator, startS3 } from '../../emulators/s3.ts'
import { awsSettings } from './aws-settings.ts'

let dynamodb: DynamodbEmulator
let s3: S3Emulator
beforeAll(async () => {
  ;[dynamodb, s3] = await Promise.all([startDynamodb(), startS3()])
})
afterAll(() => Promise.all([dynamodb.close(), s3.close()]))

const DAY_MS = 86_400_000
/** A day on which bodies are walked. */
const BODIES_DAY = Math.ceil(Date.parse(AT) / DAY_MS / 28) * 28 * DAY_MS

let folder: string
let core: ReturnType<typeof coreOf>
let world: World

function coreOf(TABLE: string) {
  const env = awsSettings({ TABLE, BUCKET: s3.bucket })
  const clock = { time: Date.parse(AT), now: () => clock.time, delay: async () => undefined }
  return { env, clock, ids: { random: (bytes: number) => randomBytes(bytes), boot: 'test' } }
}

function openWorld(): World {
  const graph = openGraphStore(core, dynamodb.aws)
  const log = { info: () => undefined, error: () => undefined }
  const ports = {
    ...core,
    log,
    graph,
    objects: openObjects(core, s3.config),
    runs: openRunStore({ ...core, settings: SettingsSchema.parse({}) }, dynamodb.aws),
    indexing: openIndexing(
      { ...core, settings: SettingsSchema.parse({}) },
      { table: dynamodb.aws, bucket: s3.config, folder },
    ),
  }
  // The ports of the function's catalog line and no others.
  return ports as unknown as World
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-index-graph-'))
  core = coreOf(await dynamodb.createTable())
  world = openWorld()
})
afterEach(() => rmSync(folder, { recursive: true }))

const index = (event: object = {}) => handler(event, { world })
const search = (tenant = 'main') => {
  const opened = openSearchIndex(core, { table: dynamodb.aws, bucket: s3.config, folder: join(folder, 'open') })
  return opened.search(tenant, { limit: 10 }).then(({ hits }) => hits.map(({ label }) => label))
}

describe('index-graph', () => {
  test('goes on until nothing is left, also what was put meanwhile; called again it has nothing to do', async () => {
    await world.graph.put('main', [place('a')])
    const publish = world.indexing.publish
    let rounds = 0
    const meanwhile: World['indexing'] = {
      ...world.indexing,
      async publish(tenant, until) {
        const published = await publish(tenant, until)
        rounds += 1
        if (rounds === 1) await world.graph.put('main', [place('b')])
        return published
      },
    }
    expect(await handler({}, { world: { ...world, indexing: meanwhile } })).toEqual({ rounds: 3 })
    expect((await search()).toSorted()).toEqual(['A', 'B'])
    expect(await index()).toEqual({ rounds: 1 })
    expect((await world.graph.manifest('main'))?.version).toBe(2)
  })

  test('is done by one at a time; a lease that is over holds up no one', async () => {
    await world.graph.put('main', [place('a')])
    const until = new Date(core.clock.now() + 60_000).toISOString()
    await world.runs.takeLease({ tenant: 'main', name: 'index-graph' }, 'somebody', until, 1)
    expect(await index()).toEqual({ rounds: 'busy' })
    expect(await search()).toEqual([])
    core.clock.time += 60_000
    expect(await index()).toEqual({ rounds: 2 })
    expect(await world.runs.leases({ tenant: 'main', name: 'index-graph' })).toEqual({})
  })

  test('that fails gives its lease back', async () => {
    const publish = () => Promise.reject(new Error('no disk'))
    const broken = { ...world, indexing: { ...world.indexing, publish } }
    await expect(handler({}, { world: broken })).rejects.toThrow('no disk')
    expect(await world.runs.leases({ tenant: 'main', name: 'index-graph' })).toEqual({})
  })

  test('out of time ends: the schedule calls it each minute', async () => {
    const publish = async () => {
      core.clock.time += 500_000
      return { outcome: 'published' as const, more: true }
    }
    const slow = { ...world, indexing: { ...world.indexing, publish } }
    expect(await handler({}, { world: slow })).toEqual({ rounds: 1 })
    expect(await world.runs.leases({ tenant: 'main', name: 'index-graph' })).toEqual({})
  })

  test('makes the index anew where the published one is gone, torn, or cannot be opened, though nothing was put', async () => {
    await world.graph.put('main', [place('a')])
    await index()
    const snapshots = openSnapshots(core, s3.config)
    const torn = await snapshots.put('main', Buffer.from('no index'))
    for (const ref of [`objstore://main/${'0'.repeat(64)}`, torn.ref]) {
      const { version = 0 } = (await world.graph.manifest('main')) ?? {}
      await world.graph.moveManifest('main', version, { ref, as_of: AT })
      // A sandbox that opened the version before.
      expect(await index()).toEqual({ rounds: 2 })
      expect(await search()).toEqual(['A'])
    }
  })

  test('makes the index anew where mentions were switched, though nothing was put', async () => {
    await world.graph.put('main', [place('a', [], { snippet: 'By Old Mill.' }), place('b', [], { label: 'Old Mill' })])
    const asked = { entity_ids: [idOf('a')], direction: 'out', limit: 5 } as const
    const until = new Date(core.clock.now() + 60_000).toISOString()
    for (const links of [true, false, true]) {
      const settings = SettingsSchema.parse({ graph: { links } })
      const indexing = openIndexing({ ...core, settings }, { table: dynamodb.aws, bucket: s3.config, folder })
      expect(await indexing.publish('main', until)).toEqual({ outcome: 'published', more: false })
      expect(await indexing.publish('main', until)).toEqual({ outcome: 'unchanged', more: false })
      const opened = openSearchIndex(core, { table: dynamodb.aws, bucket: s3.config, folder: join(folder, 'switched') })
      expect((await opened.links('main', asked)).links).toHaveLength(links ? 1 : 0)
    }
  })

  test('what chains write of themselves answers no question', async () => {
    const loop = 'main.sluice.research.chain.loop.run_1'
    await world.graph.put('main', [place('a'), { ...place('a'), entity_id: loop, label: 'LOOP', triples: [] }])
    await index()
    expect(await search()).toEqual(['A'])
  })

  test('a body that cannot be read holds up nothing', async () => {
    await world.graph.put('main', [place('a', [], { objectstore_ref: `objstore://o t/${'a'.repeat(64)}` })])
    await index()
    expect(await search()).toEqual(['A'])
  })

  test('of one tenant has nothing of another', async () => {
    await world.graph.put('main', [place('a')])
    await world.graph.put('other', [place('b')])
    await index({ tenant: 'other' })
    expect([await search('main'), await search('other')]).toEqual([[], ['B']])
  })
})

describe('index-graph {keep}', () => {
  test('stores again what readers open, each day', async () => {
    await world.graph.put('main', [place('a')])
    await index()
    const { ref = '' } = (await world.graph.manifest('main')) ?? {}
    const written = () => s3.lastModified(`main/index/${ref.slice(-64, -62)}/${ref.slice(-64)}`)
    const before = await written()
    // The emulator's clock has seconds.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    expect(await index()).toEqual({ rounds: 1 })
    expect(await written()).toBe(before)
    expect(await index({ keep: {} })).toEqual({ kept: 0 })
    expect(await written()).toBeGreaterThan(before)
  })

  test('each 28th day stores the bodies of entities again and nothing else', async () => {
    const bodies = await Promise.all(
      ['one', 'two', 'three'].map((text) => world.objects.put('main', Buffer.from(text))),
    )
    const refs = bodies.map(({ ref }) => ref)
    await world.graph.put('main', [
      place('a', [], { objectstore_ref: refs[0] }),
      place('b', [], { objectstore_ref: refs[1] }),
      place('c', [], { objectstore_ref: `objstore://main/${'0'.repeat(64)}` }),
    ])
    const put: string[] = []
    const objects = {
      ...world.objects,
      put: async (tenant: string, body: Uint8Array) => {
        put.push(Buffer.from(body).toString())
        return world.objects.put(tenant, body)
      },
    }
    const keep = () => handler({ keep: {} }, { world: { ...world, objects } })
    expect(await keep()).toEqual({ kept: 0 })
    core.clock.time = BODIES_DAY
    expect(await keep()).toEqual({ kept: 2 })
    expect(put.toSorted()).toEqual(['one', 'two'])
  })

  test('a walk of more calls than AWS takes in a chain is gone on with by the calls of the minute, each page once', async () => {
    const calls = 20
    const ids = Array.from({ length: calls }, (_, i) => String.fromCharCode('a'.charCodeAt(0) + i))
    const put = ids.map((id) => world.objects.put('main', Buffer.from(id)))
    const refs = (await Promise.all(put)).map(({ ref }) => ref)
    await world.graph.put(
      'main',
      ids.map((id, i) => place(id, [], { objectstore_ref: refs[i] })),
    )
    await index()
    core.clock.time = BODIES_DAY
    // A page an entity, and a page a call.
    const pages: string[] = []
    const slow: World['graph'] = {
      ...world.graph,
      async list(_tenant, after = 'a') {
        pages.push(after)
        core.clock.time += 500_000
        const next = ids[ids.indexOf(after) + 1]
        return { entity_ids: [place(after).entity_id], ...(next === undefined ? {} : { next }) }
      },
    }
    const answers = [await handler({ keep: {} }, { world: { ...world, graph: slow } })]
    for (let call = 1; call < calls; call += 1) answers.push(await handler({}, { world: { ...world, graph: slow } }))
    expect(answers).toEqual([{ kept: 1 }, ...Array.from({ length: calls - 1 }, () => ({ rounds: 1, kept: 1 }))])
    expect(pages).toEqual(ids)
    expect(await world.indexing.walk('main')).toBeUndefined()
    expect(await handler({}, { world: { ...world, graph: slow } })).toEqual({ rounds: 1 })
  })

  test('a walk that broke off goes on at the page it was at; one is at it at a time', async () => {
    const { ref } = await world.objects.put('main', Buffer.from('one'))
    await world.graph.put('main', [place('a', [], { objectstore_ref: ref })])
    await index()
    core.clock.time = BODIES_DAY
    const broken = { ...world.objects, put: () => Promise.reject(new Error('no network')) }
    await expect(handler({ keep: {} }, { world: { ...world, objects: broken } })).rejects.toThrow('no network')
    const begun = await world.indexing.walk('main')
    expect(begun).toBeDefined()
    const until = new Date(core.clock.now() + 60_000).toISOString()
    await world.runs.takeLease({ tenant: 'main', name: 'keep-bodies' }, 'somebody', until, 1)
    expect(await index()).toEqual({ rounds: 1 })
    expect(await world.indexing.walk('main')).toEqual(begun)
    core.clock.time += 60_000
    expect(await index()).toEqual({ rounds: 1, kept: 1 })
    expect(await world.indexing.walk('main')).toBeUndefined()
  })
})
