import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Entity, entityEdges } from '../../shared/graph/entity.ts'
import type { GraphStore, NeighbourQuery } from '../../shared/graph/graph-store.ts'
import { AT, type GraphStep, graphSteps, idOf, NAMES, normal, place, stated } from './graph-fixture.ts'

export interface OpenedGraphStore {
  readonly store: GraphStore
  /** Property runs: fewer where each call goes over a wire. */
  readonly runs: number
  close(): Promise<void>
}

/** What every graph store promises (shared/graph/graph-store.ts). A new place is admitted by one call of this. */
export function graphStoreSuite(name: string, open: () => Promise<OpenedGraphStore>): void {
  describe(`graph store: ${name}`, () => {
    let store: GraphStore
    let opened: OpenedGraphStore
    beforeEach(async () => {
      opened = await open()
      store = opened.store
    })
    afterEach(() => opened.close())

    const put = (...entities: Entity[]) => store.put('main', entities)
    const outcomesOf = async (asked: ReturnType<GraphStore['put']>) => (await asked).map(({ outcome }) => outcome)
    const met = async (from: string, direction: NeighbourQuery['direction'], over: Partial<NeighbourQuery> = {}) => {
      const query = { entity_id: idOf(from), direction, depth: 1, limit: 100, ...over }
      return await store.neighbours('main', query)
    }
    const edgesMet = async (...query: Parameters<typeof met>) =>
      (await met(...query)).edges.map(
        ({ subject, predicate, object }) => `${last(subject)} ${predicate} ${last(object)}`,
      )

    describe('entities', () => {
      test('are given back whole, in the order asked for, and only to their tenant', async () => {
        const rich = normal({
          entity_id: idOf('oslo'),
          label: 'Oslo',
          aliases: ['Kristiania', 'Christiania'],
          type: 'city',
          snippet: 'The capital of Norway. Ænes, 北, 🙂 and "quotes".',
          objectstore_ref: `objstore://main/${'a'.repeat(64)}`,
          time: AT,
          geo: { lat: 59.91, lon: 10.75 },
          triples: [stated('oslo', 'geo.population', 709_037), stated('oslo', 'geo.is_capital', true)],
        })
        await put(rich, place('b'))
        expect(await store.entity('main', idOf('oslo'))).toEqual(rich)
        expect(await store.entities('main', [idOf('b'), idOf('none'), idOf('oslo')])).toEqual([place('b'), rich])
        expect(await store.entity('other', idOf('oslo'))).toBeUndefined()
        expect(await listed(store, 'other')).toEqual([])
      })

      test('put again are unchanged; put otherwise replace; of two in one call the later stays', async () => {
        expect(await outcomesOf(put(place('a', ['b']), place('b')))).toEqual(['created', 'created'])
        expect(await outcomesOf(put(place('a', ['b']), place('b', ['a'])))).toEqual(['unchanged', 'updated'])
        expect(await outcomesOf(put(place('a'), place('a', ['c'])))).toEqual(['updated', 'updated'])
        expect(await store.entity('main', idOf('a'))).toEqual(place('a', ['c']))
      })

      test('written by several at once are one of what was written, with just its edges', async () => {
        await put(...NAMES.map((name) => place(name)))
        const links = ['b', 'c', 'd', 'e', 'f']
        await Promise.all(links.map((link, n) => put(place('a', [link, links[(n + 1) % 5] ?? 'b']))))
        const stored = await store.entity('main', idOf('a'))
        const stating = entityEdges(stored ?? place('a')).map(({ object }) => last(object))
        expect(stating).toHaveLength(2)
        for (const link of links) {
          expect(await edgesMet(link, 'in')).toEqual(stating.includes(link) ? [`a geo.borders ${link}`] : [])
        }
      })

      test('statements are added to what is stated, by source, and make the entity where there is none', async () => {
        await put(place('a', ['b']))
        const added = [stated('a', 'geo.borders', idOf('c')), stated('b', 'geo.population', 5)]
        expect(await outcomesOf(store.addTriples('main', added))).toEqual(['updated', 'created'])
        expect(await outcomesOf(store.addTriples('main', added))).toEqual(['unchanged', 'unchanged'])
        expect(await store.entity('main', idOf('a'))).toEqual(place('a', ['b', 'c']))
        const again = { ...stated('b', 'geo.population', 5), confidence: 0.5 }
        const other = { ...stated('b', 'geo.population', 5), source: 'census' }
        await store.addTriples('main', [again, other])
        expect((await store.entity('main', idOf('b')))?.triples).toEqual([other, again])
      })

      test('added to by several at once lose nothing', async () => {
        const numbers = Array.from({ length: 6 }, (_, n) => n)
        const asked = numbers.map((n) => store.addTriples('main', [stated('a', `geo.n${n}`, n)]))
        expect((await Promise.all(asked)).flat().filter(({ outcome }) => outcome === 'failed')).toEqual([])
        expect((await store.entity('main', idOf('a')))?.triples?.map(({ object }) => object)).toEqual(numbers)
      })

      test('one that would be too large fails alone and stays as it was', async () => {
        const many = Array.from({ length: 1_000 }, (_, n) => stated('a', 'geo.n', n))
        const outcomes = await store.addTriples('main', [...many, stated('a', 'geo.n', 1_000), stated('b', 'geo.n', 1)])
        expect(outcomes).toEqual([
          expect.objectContaining({ entity_id: idOf('a'), outcome: 'failed', code: 'entity_too_large' }),
          { entity_id: idOf('b'), outcome: 'created' },
        ])
        expect(await store.entity('main', idOf('a'))).toBeUndefined()
      })

      test('are at most 1,000 a call that writes, 100 a call that reads', async () => {
        const many = Array.from({ length: 1_001 }, (_, n) => place(`n${n}`))
        const refusal = { name: 'LimitExceeded', code: 'too_many_entities' }
        await expect(store.put('main', many)).rejects.toMatchObject(refusal)
        await expect(
          store.entities(
            'main',
            many.slice(0, 101).map(({ entity_id }) => entity_id),
          ),
        ).rejects.toMatchObject(refusal)
        expect(await listed(store)).toEqual([])
      })

      test('are listed each once, over pages', async () => {
        const many = Array.from({ length: 230 }, (_, n) => place(`n${n}`))
        for (let at = 0; at < many.length; at += 100) await store.put('main', many.slice(at, at + 100))
        await store.delete('main', [idOf('n7')])
        expect((await listed(store)).toSorted()).toEqual(
          many
            .map(({ entity_id }) => entity_id)
            .filter((id) => id !== idOf('n7'))
            .toSorted(),
        )
      })
    })

    describe('neighbours', () => {
      test('are met along, against and both ways, by predicate, with their labels', async () => {
        await put(place('a', ['b', 'c']), place('b', ['a']), place('c'), place('d', ['a']))
        await store.addTriples('main', [stated('a', 'geo.contains', idOf('d'))])
        expect(await edgesMet('a', 'out')).toEqual(['a geo.borders b', 'a geo.borders c', 'a geo.contains d'])
        expect(await edgesMet('a', 'in')).toEqual(['b geo.borders a', 'd geo.borders a'])
        expect(await edgesMet('a', 'both')).toHaveLength(5)
        expect(await edgesMet('a', 'both', { predicates: ['geo.contains'] })).toEqual(['a geo.contains d'])
        expect(await edgesMet('a', 'in', { predicates: ['geo.contains'] })).toEqual([])
        const { entities } = await met('a', 'in')
        expect(entities).toEqual([
          { entity_id: idOf('b'), label: 'B', type: 'place', depth: 1 },
          { entity_id: idOf('d'), label: 'D', type: 'place', depth: 1 },
        ])
      })

      test('are met breadth first, each by its shortest way, round circles too', async () => {
        await put(place('a', ['b']), place('b', ['c']), place('c', ['d', 'a']), place('d'))
        const { edges, entities } = await met('a', 'out', { depth: 3 })
        expect(edges.map(({ subject, object, depth }) => [last(subject), last(object), depth])).toEqual([
          ['a', 'b', 1],
          ['b', 'c', 2],
          ['c', 'a', 3],
          ['c', 'd', 3],
        ])
        expect(entities.map(({ entity_id, depth }) => [last(entity_id), depth])).toEqual([
          ['b', 1],
          ['c', 2],
          ['d', 3],
        ])
      })

      test('stop at the limit and say so', async () => {
        const rim = Array.from({ length: 12 }, (_, n) => place(`n${10 + n}`, ['hub']))
        await put(place('hub'), ...rim)
        const { edges, truncated } = await met('hub', 'in', { limit: 5 })
        expect(edges.map(({ subject }) => last(subject))).toEqual(['n10', 'n11', 'n12', 'n13', 'n14'])
        expect(truncated).toBe(true)
        expect(await met('hub', 'in', { limit: 12 })).toMatchObject({ truncated: false })
      })

      test('are none where nothing is, and where an edge leads nowhere', async () => {
        await put(place('a', ['b']))
        expect(await met('b', 'both')).toEqual({ edges: [], entities: [], truncated: false })
        expect(await edgesMet('a', 'out')).toEqual([])
        await put(place('b'))
        expect(await edgesMet('b', 'in')).toEqual(['a geo.borders b'])
      })

      test('are not what a model said', async () => {
        const said = { ...stated('a', 'geo.borders', idOf('b')), rule_opaque: true }
        await put(place('a', [], { triples: [said] }), place('b'))
        expect(await edgesMet('a', 'out')).toEqual([])
        expect(await edgesMet('b', 'in')).toEqual([])
      })

      test.each([{ depth: 0 }, { depth: 4 }, { limit: 0 }, { limit: 1_001 }, { depth: 1.5 }])(
        'refuse %j',
        async (over) => {
          await expect(met('a', 'out', over)).rejects.toMatchObject({ code: 'bad_neighbour_query' })
        },
      )
    })

    describe('laws', () => {
      test('whatever was put and deleted, every edge is seen from both of its ends, and nothing else', async () => {
        let tenants = 0
        await fc.assert(
          fc.asyncProperty(graphSteps, async (steps) => {
            tenants += 1
            const tenant = `law${tenants}`
            const model = await play(store, tenant, steps)
            expect((await listed(store, tenant)).toSorted()).toEqual([...model.keys()].toSorted())
            for (const id of NAMES.map(idOf)) {
              expect(await store.entity(tenant, id)).toEqual(model.get(id))
              for (const direction of ['out', 'in'] as const) {
                const { edges } = await store.neighbours(tenant, { entity_id: id, direction, depth: 1, limit: 1_000 })
                const seen = edges.map(({ subject, predicate, object }) => ({ subject, predicate, object }))
                expect(seen).toEqual(edgesIn(model, id, direction))
              }
            }
          }),
          { numRuns: opened.runs },
        )
      })

      test('deleting all leaves nothing, and putting all again is as if nothing had been', async () => {
        const all = [place('a', ['b', 'c']), place('b', ['a']), place('c', ['a'])]
        await put(...all)
        const ids = all.map(({ entity_id }) => entity_id)
        expect(await outcomesOf(store.delete('main', ids))).toEqual(['deleted', 'deleted', 'deleted'])
        expect(await outcomesOf(store.delete('main', ids))).toEqual(['absent', 'absent', 'absent'])
        expect(await store.entities('main', ids)).toEqual([])
        await put(place('a'))
        expect(await edgesMet('a', 'both')).toEqual([])
        await put(...all)
        expect(await edgesMet('a', 'both')).toEqual([
          'a geo.borders b',
          'a geo.borders c',
          'b geo.borders a',
          'c geo.borders a',
        ])
      })
    })

    describe('change log and manifest', () => {
      const named = async (limit = 100) =>
        new Set((await store.changes('main', limit)).flatMap(({ entity_ids }) => entity_ids.map(last)))

      test('names what was put, added to and deleted until it is dropped; not what stayed as it was', async () => {
        await put(place('a'), place('b'))
        expect(await named()).toEqual(new Set(['a', 'b']))
        await store.dropChanges('main', await store.changes('main', 100))
        await put(place('a'), place('b'))
        await store.delete('main', [idOf('none')])
        expect(await store.changes('main', 100)).toEqual([])
        await store.addTriples('main', [stated('a', 'geo.population', 1)])
        await store.delete('main', [idOf('b')])
        expect(await named()).toEqual(new Set(['a', 'b']))
        expect((await store.changes('main', 100)).every(({ ended }) => ended)).toBe(true)
        expect(await store.changes('other', 100)).toEqual([])
      })

      test('is read from the oldest on, in parts', async () => {
        for (const name of NAMES) await put(place(name))
        const first = await store.changes('main', 4)
        const rest = await store.changes('main', 100, first.at(-1)?.id)
        expect([...first, ...rest].flatMap(({ entity_ids }) => entity_ids.map(last)).toSorted()).toEqual([...NAMES])
        expect([first.length, rest.length]).toEqual([4, 2])
        await store.dropChanges('main', first)
        expect(await store.changes('main', 100)).toEqual(rest)
      })

      test('the manifest moves only from the version it has, for one of many', async () => {
        const next = (n: number) => ({ ref: `objstore://main/${String(n).repeat(64)}`, as_of: AT })
        expect(await store.manifest('main')).toBeUndefined()
        expect(await store.moveManifest('main', 1, next(1))).toBe(false)
        const moved = await Promise.all([1, 2, 3, 4].map((n) => store.moveManifest('main', 0, next(n))))
        expect(moved.filter(Boolean)).toHaveLength(1)
        expect(await store.manifest('main')).toEqual({ version: 1, ...next(moved.indexOf(true) + 1) })
        expect(await store.moveManifest('main', 0, next(5))).toBe(false)
        expect(await store.moveManifest('main', 1, next(6))).toBe(true)
        expect(await store.manifest('main')).toEqual({ version: 2, ...next(6) })
        expect(await store.manifest('other')).toBeUndefined()
      })
    })
  })
}

function last(id: string): string {
  return id.split('.').at(-1) ?? ''
}

async function listed(store: GraphStore, tenant = 'main'): Promise<readonly string[]> {
  const ids: string[] = []
  let after: string | undefined
  do {
    const page = await store.list(tenant, after)
    expect(page.entity_ids.length).toBeLessThanOrEqual(100)
    ids.push(...page.entity_ids)
    after = page.next
  } while (after !== undefined)
  return ids
}

/** Does the steps, and what they should come to. */
async function play(store: GraphStore, tenant: string, steps: readonly GraphStep[]): Promise<Map<string, Entity>> {
  const model = new Map<string, Entity>()
  for (const step of steps) {
    if (step.kind === 'put') {
      await store.put(tenant, step.entities)
      for (const entity of step.entities) model.set(entity.entity_id, entity)
    } else {
      await store.delete(tenant, step.ids)
      for (const id of step.ids) model.delete(id)
    }
  }
  return model
}

function edgesIn(model: ReadonlyMap<string, Entity>, id: string, direction: 'in' | 'out') {
  const [near, far] = direction === 'out' ? (['subject', 'object'] as const) : (['object', 'subject'] as const)
  return [...model.values()]
    .flatMap(entityEdges)
    .filter((edge) => edge[near] === id && model.has(id) && model.has(edge[far]))
    .toSorted((a, b) => (`${a.predicate}#${a[far]}` < `${b.predicate}#${b[far]}` ? -1 : 1))
}
