import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Entity } from '../../shared/graph/entity.ts'
import type { GraphStore } from '../../shared/graph/graph-store.ts'
import type { EntityFilter, SearchIndex } from '../../shared/graph/search-index.ts'
import type { ObjectStore } from '../../shared/ports/objects.ts'
import { atMost } from '../how-much.ts'
import { AT, type GraphStep, graphSteps, idOf, NAMES, normal, place, stated } from './graph-fixture.ts'

export interface OpenedSearchIndex {
  readonly graph: GraphStore
  readonly objects: ObjectStore
  readonly index: SearchIndex
  /** Does what the place does by itself between a write and an answer that has it. */
  settle(tenant: string): Promise<void>
  /** The index file is gone, or of another version: the place makes it anew. */
  lose(tenant: string): Promise<void>
  readonly runs: number
  close(): Promise<void>
}

/** What every search index promises (shared/graph/search-index.ts). A new place is admitted by one call of this. */
export function searchIndexSuite(name: string, open: () => Promise<OpenedSearchIndex>): void {
  describe(`search index: ${name}`, () => {
    let opened: OpenedSearchIndex
    let index: SearchIndex
    beforeEach(async () => {
      opened = await open()
      index = opened.index
    })
    afterEach(() => opened.close())

    const put = async (...entities: Entity[]) => {
      await opened.graph.put('main', entities)
      await opened.settle('main')
    }
    const found = async (text: string | undefined, filter: EntityFilter = {}, limit = 20) => {
      const { hits } = await index.search('main', { ...(text === undefined ? {} : { text }), filter, limit })
      return hits.map(({ entity_id }) => entity_id.split('.').at(-1))
    }
    const entity = (name: string, over: Partial<Entity>) => normal({ entity_id: idOf(name), ...over })

    describe('search', () => {
      test('finds by label, alias, id, statement, snippet and body, whatever case, accent and ending', async () => {
        const { ref } = await opened.objects.put(
          'main',
          Buffer.from('Long ago.\n\nShips were moored beside lighthouses.'),
        )
        await put(
          entity('oslo', { label: 'Oslo', aliases: ['Kristiania'], snippet: 'A city by a fjord.' }),
          entity('reykjavik', { label: 'Reykjavík', triples: [stated('reykjavik', 'geo.industry', 'fishing')] }),
          entity('old-harbour', { objectstore_ref: ref }),
        )
        expect(await found('OSLO')).toEqual(['oslo'])
        expect(await found('kristiania')).toEqual(['oslo'])
        expect(await found('fjords')).toEqual(['oslo'])
        expect(await found('Reykjavik')).toEqual(['reykjavik'])
        expect(await found('fisher industries')).toEqual(['reykjavik'])
        expect(await found('harbour')).toEqual(['old-harbour'])
        expect(await found('the lighthouse')).toEqual(['old-harbour'])
        expect(await found('zzz')).toEqual([])
      })

      test('puts a label before a mention, and more of the question before less', async () => {
        await put(
          entity('a', { label: 'Harbours of Norway', snippet: 'A list.' }),
          entity('b', { label: 'Ferry', snippet: 'It leaves from one of the harbours.' }),
          entity('c', { label: 'Fish', snippet: 'Sold at the harbours of Norway in winter.' }),
          entity('d', { label: 'Snow', snippet: 'In winter.' }),
        )
        expect((await found('harbours of Norway')).slice(0, 2)).toEqual(['a', 'c'])
        expect((await found('fish sold in winter'))[0]).toBe('c')
      })

      test('quoted words must stand together', async () => {
        await put(
          entity('a', { snippet: 'the dead sea scrolls' }),
          entity('b', { snippet: 'the sea is dead, scrolls say' }),
        )
        expect(await found('"dead sea" scrolls')).toEqual(['a'])
        expect((await found('dead sea scrolls')).toSorted()).toEqual(['a', 'b'])
      })

      test('shows the part of a long body that has the words, and what is needed to follow it up', async () => {
        const filler = 'Nothing of note happened here in those years. '.repeat(60)
        const text = `${filler}The treaty of Bergen was signed in 1733 by both kings. ${filler}`
        const { ref } = await opened.objects.put('main', Buffer.from(text))
        await put(entity('history', { label: 'History', objectstore_ref: ref, time: AT }))
        const { hits, as_of } = await index.search('main', { text: 'treaty of bergen', limit: 5 })
        expect(hits).toEqual([
          {
            entity_id: idOf('history'),
            label: 'History',
            type: 'place',
            score: expect.any(Number),
            snippet_text: expect.stringMatching(/^The treaty of Bergen was signed in 1733/),
            objectstore_ref: ref,
            time: AT,
          },
        ])
        expect(hits[0]?.snippet_text?.length).toBeLessThanOrEqual(300)
        expect(as_of).toMatch(/^2026-11-22T/)
      })

      test('a body that is no text or not there, and text an operator could be, do no harm', async () => {
        const { ref } = await opened.objects.put('main', Uint8Array.from([0xff, 0xfe, 0, 1]))
        await put(
          entity('binary', { label: 'Binary', objectstore_ref: ref }),
          entity('missing', { label: 'Missing', objectstore_ref: `objstore://main/${'0'.repeat(64)}` }),
        )
        expect(await found('binary')).toEqual(['binary'])
        expect(await found('missing')).toEqual(['missing'])
        for (const text of [
          '"',
          '" OR "',
          'names:a',
          'NEAR(a b)',
          '*',
          'a AND',
          '(((',
          '-',
          '^',
          "'; DROP TABLE",
          '\0',
        ]) {
          await expect(found(text), text).resolves.toBeDefined()
        }
        await fc.assert(
          fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 60 }), async (text) => {
            expect((await found(text)).length).toBeLessThanOrEqual(2)
          }),
          { numRuns: 30 },
        )
      })

      test('what a model wrote is not in it', async () => {
        const said = { ...stated('a', 'research.synthesis', 'pelicans everywhere'), rule_opaque: true }
        const linked = { ...stated('a', 'geo.borders', idOf('b')), rule_opaque: true }
        await put(entity('a', { triples: [said, linked] }), entity('b', {}))
        expect(await found('pelicans')).toEqual([])
        expect(await found(undefined, { stated: { predicate: 'research.synthesis' } })).toEqual([])
        const { hits } = await index.diffuse('main', { seeds: [{ entity_id: idOf('a'), weight: 1 }], limit: 5 })
        expect(hits.map(({ entity_id }) => entity_id)).toEqual([idOf('a')])
      })

      test.each([0, -1, 1_001, 1.5, Number.NaN])('refuses a limit of %s', async (limit) => {
        await put(place('a'))
        await expect(index.search('main', { text: 'a', limit })).rejects.toMatchObject({ code: 'bad_search' })
      })
    })

    describe('filters', () => {
      beforeEach(async () => {
        const at = (day: number) => `2026-11-${String(day).padStart(2, '0')}T12:00:00.000Z`
        await put(
          entity('oslo', { type: 'City', time: at(1), geo: { lat: 59.9, lon: 10.7 }, snippet: 'in the north' }),
          entity('suva', { type: 'City', time: at(2), geo: { lat: -18.1, lon: 178.4 }, snippet: 'in the ocean' }),
          entity('apia', {
            time: at(3),
            geo: { lat: -13.8, lon: -171.8 },
            triples: [stated('apia', 'geo.zone', 'Zone 4')],
          }),
          entity('alps', {
            snippet: 'in the north',
            triples: [{ ...stated('alps', 'geo.borders', idOf('oslo')), timestamp: at(4) }],
          }),
        )
      })

      test('without words: newest first, those without a time last', async () => {
        await put(entity('timeless', {}))
        expect(await found(undefined)).toEqual(['alps', 'apia', 'suva', 'oslo', 'timeless'])
        expect(await found('  ', {}, 2)).toEqual(['alps', 'apia'])
      })

      test.each<[string, EntityFilter, readonly string[]]>([
        ['type, its own', { type: 'city' }, ['suva', 'oslo']],
        ['type, of the id', { type: 'Place' }, ['alps', 'apia', 'suva', 'oslo']],
        ['domain', { domain: 'geo' }, ['alps', 'apia', 'suva', 'oslo']],
        ['another domain', { domain: 'ops' }, []],
        ['a predicate', { stated: { predicate: 'geo.zone' } }, ['apia']],
        ['a literal', { stated: { predicate: 'geo.zone', object: ' zone 4' } }, ['apia']],
        ['another literal', { stated: { predicate: 'geo.zone', object: 'zone 5' } }, []],
        ['an edge', { stated: { predicate: 'geo.borders', object: idOf('oslo') } }, ['alps']],
        ['a time', { time_range: { from: '2026-11-02T12:00:00Z', to: '2026-11-03T14:00:00+02:00' } }, ['apia', 'suva']],
        ['a box', { geo_bounds: { north: 70, south: 50, east: 20, west: 0 } }, ['oslo']],
        ['a box over the meridian', { geo_bounds: { north: 0, south: -30, east: -170, west: 170 } }, ['apia', 'suva']],
        ['two of them', { type: 'city', geo_bounds: { north: 0, south: -30, east: -170, west: 170 } }, ['suva']],
      ])('by %s', async (_, filter, names) => {
        expect(await found(undefined, filter)).toEqual(names)
      })

      test('narrow a search', async () => {
        expect((await found('north')).toSorted()).toEqual(['alps', 'oslo'])
        expect(await found('north', { type: 'city' })).toEqual(['oslo'])
      })
    })

    test('lookups are exact but for case and outer blanks, and tell namesakes', async () => {
      await put(
        entity('drone-1', { label: 'Heron', aliases: ['Old One'] }),
        entity('drone-11', { label: ' heron ' }),
        entity('drone', { label: 'Heron station' }),
      )
      const ids = async (...asked: ['label' | 'alias' | 'suffix', string]) =>
        (await index.lookup('main', ...asked)).entity_ids
      expect(await ids('label', '  HERON')).toEqual([idOf('drone-1'), idOf('drone-11')])
      expect(await ids('label', 'old one')).toEqual([])
      expect(await ids('alias', 'old one ')).toEqual([idOf('drone-1')])
      expect(await ids('suffix', 'drone-1')).toEqual([idOf('drone-1')])
      expect(await ids('suffix', 'place.drone-11')).toEqual([idOf('drone-11')])
      expect(await ids('suffix', '11')).toEqual([])
      expect(await ids('suffix', idOf('drone'))).toEqual([idOf('drone')])
      expect(await ids('suffix', '')).toEqual([])
    })

    test('diffusion finds what the seeds lead to, nearer first, in both directions', async () => {
      await put(
        place('a', ['b']),
        place('b', ['c']),
        place('c'),
        place('d', ['a']),
        place('e'),
        place('x', ['nowhere']),
      )
      const { hits } = await index.diffuse('main', { seeds: [{ entity_id: idOf('a'), weight: 1 }], limit: 10 })
      expect(hits.map(({ entity_id }) => entity_id.split('.').at(-1))).toEqual(['a', 'b', 'd', 'c'])
      expect(hits.reduce((sum, { score }) => sum + score, 0)).toBeCloseTo(1, 9)
      const none = await index.diffuse('main', { seeds: [{ entity_id: idOf('none'), weight: 1 }], limit: 10 })
      expect(none.hits).toEqual([])
      const bad = { seeds: [{ entity_id: idOf('a'), weight: 0 }], limit: 10 }
      await expect(index.diffuse('main', bad)).rejects.toMatchObject({ code: 'bad_search' })
    })

    test('diffusion is drawn by what a text names: the predicate, not how many edges there are', async () => {
      const about = (name: string, predicate: string, others: readonly string[]) =>
        entity(name, { triples: others.map((other) => stated(name, predicate, idOf(other))) })
      await put(
        normal({
          entity_id: idOf('land'),
          triples: [
            stated('land', 'geo.country.currency', idOf('coin')),
            ...['b', 'c', 'd', 'e'].map((name) => stated('land', 'geo.country.borders', idOf(name))),
          ],
        }),
        about('town', 'geo.city.capital_of', ['land']),
        ...['coin', 'b', 'c', 'd', 'e'].map((name) => place(name)),
      )
      const first = async (text?: string) => {
        const seeds = [{ entity_id: idOf('town'), weight: 1 }]
        const { hits } = await index.diffuse('main', { seeds, limit: 3, ...(text === undefined ? {} : { text }) })
        return hits.map(({ entity_id }) => entity_id.split('.').at(-1)).toSorted()
      }
      expect(await first('Which currency is used in the country whose capital is TOWN?')).toEqual([
        'coin',
        'land',
        'town',
      ])
      expect(await first('Which one?')).toEqual(await first())
      const near = await first('What does it border?')
      expect(near).not.toContain('coin')
    })

    test('follows the relations a text names, from the last word to the first, in both directions', async () => {
      const country = (name: string, borders: readonly string[], capital: string) =>
        entity(name, {
          type: 'Country',
          triples: [
            ...borders.map((other) => stated(name, 'geo.country.borders', idOf(other))),
            stated(name, 'geo.country.capital', idOf(capital)),
          ],
        })
      const cities = ['oslo', 'stockholm', 'helsinki', 'bergen']
      const home: Readonly<Record<string, string>> = { oslo: 'norway', bergen: 'norway', stockholm: 'sweden' }
      await put(
        country('norway', ['sweden', 'finland'], 'oslo'),
        country('sweden', ['norway', 'finland'], 'stockholm'),
        country('finland', ['norway', 'sweden'], 'helsinki'),
        country('denmark', ['sweden'], 'copenhagen'),
        ...cities.map((name) =>
          entity(name, { type: 'city', triples: [stated(name, 'geo.city.country', idOf(home[name] ?? 'finland'))] }),
        ),
      )
      const led = async (text: string, ...seeds: string[]) => {
        const { hits } = await index.follow('main', { seeds: seeds.map(idOf), text, limit: 10 })
        expect(hits.every(({ score }) => score === 1)).toBe(true)
        return hits.map(({ entity_id }) => entity_id.split('.').at(-1)).toSorted()
      }
      expect(await led('What is the capital of Norway?', 'norway')).toEqual(['oslo'])
      expect(await led('the country whose capital is Oslo', 'oslo')).toEqual(['norway'])
      expect(await led('the capital of the country that borders Denmark', 'denmark')).toEqual(['stockholm'])
      expect(await led('countries that border the country whose capital is Oslo', 'oslo')).toEqual([
        'finland',
        'sweden',
      ])
      expect(await led('which country borders both', 'norway', 'denmark')).toEqual(['sweden'])
      expect(await led('the capital of the country bordering both', 'norway', 'denmark')).toEqual(['stockholm'])
      expect(await led('In which country is Bergen?', 'bergen')).toEqual(['norway'])
      expect(await led('Which cities are in that country?', 'sweden')).toEqual(['stockholm'])
      expect(await led('Who rules there?', 'norway')).toEqual([])
      expect(await led('the capital of Atlantis', 'atlantis')).toEqual([])
      const none = { seeds: [idOf('norway')], text: 'capital', limit: 0 }
      await expect(index.follow('main', none)).rejects.toMatchObject({ code: 'bad_search' })
    })

    test('follows what is put again and deleted, leaves nothing behind, and keeps tenants apart', async () => {
      await put(entity('a', { label: 'Walrus' }), place('b', ['a']))
      expect(await found('walrus')).toEqual(['a'])
      await put(entity('a', { label: 'Narwhal' }))
      expect([await found('walrus'), await found('narwhal')]).toEqual([[], ['a']])
      expect(await index.search('other', { text: 'narwhal', limit: 5 })).toMatchObject({ hits: [] })
      await opened.graph.delete('main', [idOf('a')])
      await opened.settle('main')
      expect(await found('narwhal')).toEqual([])
      expect((await index.lookup('main', 'label', 'narwhal')).entity_ids).toEqual([])
      expect((await index.lookup('main', 'suffix', 'a')).entity_ids).toEqual([])
      expect(await opened.graph.changes('main', 10)).toEqual([])
    })

    test('whatever was put and deleted, and lost, it has what the graph has', async () => {
      let tenants = 0
      await fc.assert(
        fc.asyncProperty(graphSteps, fc.boolean(), async (steps, lost) => {
          tenants += 1
          const tenant = `law${tenants}`
          await play(opened, tenant, steps)
          if (lost) await opened.lose(tenant)
          await opened.settle(tenant)
          await expectSame(opened, tenant)
        }),
        { numRuns: atMost(opened.runs, 5) },
      )
    })
  })
}

/** Does the steps; the place catches up after every other. */
async function play({ graph, settle }: OpenedSearchIndex, tenant: string, steps: readonly GraphStep[]): Promise<void> {
  for (const [at, step] of steps.entries()) {
    if (step.kind === 'put') await graph.put(tenant, step.entities)
    else await graph.delete(tenant, step.ids)
    if (at % 2 === 0) await settle(tenant)
  }
}

async function expectSame({ graph, index }: OpenedSearchIndex, tenant: string): Promise<void> {
  const there = await graph.entities(tenant, NAMES.map(idOf))
  const { hits } = await index.search(tenant, { limit: 100 })
  expect(hits.map(({ entity_id }) => entity_id).toSorted()).toEqual(there.map(({ entity_id }) => entity_id))
  for (const { entity_id, label = '' } of there) {
    expect((await index.lookup(tenant, 'label', label)).entity_ids).toEqual([entity_id])
    const around = { entity_id, direction: 'both', depth: 3, limit: 1_000 } as const
    const near = (await graph.neighbours(tenant, around)).entities.map((met) => met.entity_id)
    const walked = await index.diffuse(tenant, { seeds: [{ entity_id, weight: 1 }], limit: 100 })
    expect(walked.hits.map((hit) => hit.entity_id)).toEqual(expect.arrayContaining([entity_id, ...near]))
  }
}
