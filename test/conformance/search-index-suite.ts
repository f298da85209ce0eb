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
        // A question has them around what it names: who answers it need not say that.
        expect(await found('Who found "dead sea" scrolls?')).toEqual(['a', 'b'])
        expect((await found('what is a "dead sea"')).toSorted()).toEqual(['a', 'b'])
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
      const ids = async (...asked: ['label' | 'alias' | 'suffix' | 'written', string]) =>
        (await index.lookup('main', ...asked)).entity_ids
      expect(await ids('label', '  HERON')).toEqual([idOf('drone-1'), idOf('drone-11')])
      expect(await ids('label', 'old one')).toEqual([])
      expect(await ids('alias', 'old one ')).toEqual([idOf('drone-1')])
      expect(await ids('suffix', 'drone-1')).toEqual([idOf('drone-1')])
      expect(await ids('suffix', 'place.drone-11')).toEqual([idOf('drone-11')])
      expect(await ids('suffix', '11')).toEqual([])
      expect(await ids('suffix', idOf('drone'))).toEqual([idOf('drone')])
      expect(await ids('suffix', '')).toEqual([])
      await put(entity('emma', { label: 'Emma (1932 film)' }))
      expect(await ids('written', 'emma')).toEqual([idOf('emma')])
    })

    test('lookups by the words of a name: other marks, accents, no bracket; and what may be meant by a misspelt word', async () => {
      await put(
        entity('zone', { label: 'Zone-A' }),
        entity('film', { label: 'Ed Wood (film)' }),
        entity('lisp', { label: 'Lisp' }),
        entity('quito', { label: 'Quito', aliases: ['Quitó San'], snippet: 'Its harbours are far.' }),
      )
      const written = async (text: string) => (await index.lookup('main', 'written', text)).entity_ids
      expect(await written('zone a')).toEqual([idOf('zone')])
      expect(await written('ZONE-A')).toEqual([idOf('zone')])
      expect(await written('ed wood')).toEqual([idOf('film')])
      expect(await written('Ed Wood, film')).toEqual([idOf('film')])
      expect(await written('quito san')).toEqual([idOf('quito')])
      expect(await written('zone')).toEqual([])
      expect(await written('!')).toEqual([])
      const misspelt = async (text: string) => (await index.spelling('main', text)).misspelt
      expect(await misspelt('Is Qiuto, qiuto far from a harbour?')).toEqual([
        { written: 'Qiuto', meant: ['quito'] },
        { written: 'qiuto', meant: ['quito'] },
      ])
      expect(await misspelt('Where is Timbuktu?')).toEqual([])
      // What asks is no name, however near one is.
      expect(await misspelt('List each harbour')).toEqual([])
      expect(await misspelt('Lisd')).toEqual([{ written: 'Lisd', meant: ['lisp'] }])
      await opened.graph.delete('main', [idOf('quito')])
      await opened.settle('main')
      expect(await misspelt('Qiuto')).toEqual([])
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

    test('a search that names something also finds what it and the best hits are linked to, as one ranking', async () => {
      const text = (name: string, snippet: string, others: readonly string[] = []) =>
        entity(name, { snippet, triples: others.map((other) => stated(name, 'ops.near', idOf(other))) })
      await put(
        text('harbour', 'the harbour freezes', ['pilot']),
        text('pilot', 'somebody brings vessels in', ['school']),
        text('school', 'where it is taught'),
        text('lake', 'the lake freezes'),
        text('far', 'nothing of it'),
      )
      const found = async (named?: readonly string[], filter?: EntityFilter) => {
        const query = {
          text: 'who knows the harbour or the lake',
          limit: 5,
          ...(named && { named }),
          ...(filter && { filter }),
        }
        const { hits } = await index.search('main', query)
        return hits.map(({ entity_id, linked }) => `${entity_id.split('.').at(-1)}${linked === true ? ' linked' : ''}`)
      }
      expect((await found()).toSorted()).toEqual(['harbour', 'lake'])
      const named = await found([idOf('harbour'), idOf('none')])
      expect(named[0]).toBe('harbour')
      expect(named.toSorted()).toEqual(['harbour', 'lake', 'pilot linked', 'school linked'])
      // Where nothing is named the best hits lead on alone.
      expect(await found([])).toContain('pilot linked')
      expect(await found([idOf('harbour')], { stated: { predicate: 'ops.near', object: idOf('school') } })).toEqual([
        'pilot linked',
      ])
      const tooMany = { text: 'a', limit: 1, named: Array.from({ length: 101 }, (_, n) => idOf(`n${n}`)) }
      await expect(index.search('main', tooMany)).rejects.toMatchObject({ code: 'bad_search' })
    })

    test('a search goes onward from what its best hits name to what it still asks for, where no link leads there', async () => {
      await put(
        entity('film', { label: 'Green Harbour', snippet: 'Green Harbour is a film by Ada Vale of Bergen.' }),
        entity('vale', { label: 'Vale, A.', snippet: 'The mother of Ada Vale was born in Narvik.' }),
        entity('other', { label: 'Harbours', snippet: 'A green one has a director.' }),
      )
      const found = async (text: string, onward?: true) => {
        const { hits } = await index.search('main', { text, named: [], limit: 5, ...(onward && { onward }) })
        return hits.map(({ entity_id }) => entity_id.split('.').at(-1))
      }
      const question = 'Who raised the director of Green Harbour?'
      expect(await found(question)).not.toContain('vale')
      expect(await found(question, true)).toContain('vale')
      // What names nothing is about a matter, and stays with it.
      expect(await found('who raised a director of green harbours', true)).not.toContain('vale')
      const filter = { stated: { predicate: 'geo.none' } }
      expect((await index.search('main', { text: question, named: [], onward: true, filter, limit: 5 })).hits).toEqual(
        [],
      )
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

    describe('mentions', () => {
      const said = (name: string, snippet: string, over: Partial<Entity> = {}) =>
        entity(name, { label: name.replaceAll('-', ' '), snippet, ...over })
      const linked = async (direction: 'in' | 'out', ...names: string[]) => {
        const { links } = await index.links('main', { entity_ids: names.map(idOf), direction, limit: 100 })
        return links.map(({ subject, predicate, object }) =>
          [subject.split('.').at(-1), predicate, object.split('.').at(-1)].join(' '),
        )
      }

      test('of label and alias in snippet, body and what is stated are edges, with the bytes they stand at', async () => {
        const text = 'Über Quito.\n\nThe fleet of Old Harbour sailed.'
        const { ref } = await opened.objects.put('main', Buffer.from(text))
        await put(
          said('Quito', 'It is high.'),
          said('Lima', 'South of Quito.', { triples: [stated('Lima', 'geo.twin', 'Quito, since 1990')] }),
          said('Port', 'Busy.', { aliases: ['Old Harbour'] }),
          said('Log', '', { objectstore_ref: ref }),
        )
        const { links } = await index.links('main', { entity_ids: [idOf('Log')], direction: 'out', limit: 10 })
        expect(links).toEqual([
          {
            subject: idOf('Log'),
            predicate: 'sluice.mentions',
            object: idOf('Port'),
            places: [{ in: 'body', start: 27, end: 38 }],
          },
          {
            subject: idOf('Log'),
            predicate: 'sluice.mentions',
            object: idOf('Quito'),
            places: [{ in: 'body', start: 6, end: 11 }],
          },
        ])
        expect(await linked('in', 'Quito')).toEqual(['Lima sluice.mentions Quito', 'Log sluice.mentions Quito'])
        const lima = await index.links('main', { entity_ids: [idOf('Lima')], direction: 'out', limit: 10 })
        expect(lima.links[0]?.places).toEqual([{ in: 'snippet', start: 9, end: 14 }])
        const again = said('Lima', '', { triples: [stated('Lima', 'geo.twin', 'of Quito')] })
        await put(again)
        const twin = await index.links('main', { entity_ids: [idOf('Lima')], direction: 'out', limit: 10 })
        expect(twin.links[0]?.places).toEqual([{ in: 'geo.twin', start: 3, end: 8 }])
      })

      test('come when the named is put after the naming, and go with either', async () => {
        await put(said('Tale', 'Of Quito City and Quito.'))
        await put(said('Quito', 'High.'))
        expect(await linked('out', 'Tale')).toEqual(['Tale sluice.mentions Quito'])
        await put(said('Quito-City', 'New.'))
        expect(await linked('out', 'Tale')).toEqual(['Tale sluice.mentions Quito', 'Tale sluice.mentions Quito-City'])
        await put(said('Tale', 'Of Quito City.'))
        expect(await linked('in', 'Quito')).toEqual([])
        await opened.graph.delete('main', [idOf('Quito-City')])
        await opened.settle('main')
        expect(await linked('out', 'Tale')).toEqual(['Tale sluice.mentions Quito'])
        await put(said('Quito', 'High.', { label: 'San Francisco de Quito' }))
        expect(await linked('out', 'Tale')).toEqual([])
      })

      test('of a name of several things are kept apart, until one is left', async () => {
        await put(
          said('Wood', 'A person.', { label: 'Ed Wood' }),
          said('film', 'Made of Ed Wood.', { label: 'Ed Wood (film)' }),
          said('Review', 'It praises Ed Wood.'),
          said('Advert', 'See Ed Wood (film) tonight.'),
        )
        expect(await linked('out', 'Review')).toEqual([
          'Review sluice.may_mention Wood',
          'Review sluice.may_mention film',
        ])
        // A text that says the name of what it is of means that.
        expect(await linked('out', 'film')).toEqual([])
        expect(await linked('out', 'Advert')).toEqual(['Advert sluice.mentions film'])
        await opened.graph.delete('main', [idOf('film')])
        await opened.settle('main')
        expect(await linked('out', 'Review')).toEqual(['Review sluice.mentions Wood'])
      })

      test('common words are left alone, and what texts write with a capital is not', async () => {
        const texts = Array.from({ length: 12 }, (_, n) => said(`t${n}`, 'They say love is blind.'))
        await put(said('Love', 'A film.'), said('Blind', 'A film.'), said('Fan', 'I saw Love and Blind.'), ...texts)
        expect(await linked('out', 'Fan', 't1')).toEqual([])
        for (const { entity_id } of texts) await opened.graph.delete('main', [entity_id])
        await opened.settle('main')
        expect(await linked('out', 'Fan')).toEqual(['Fan sluice.mentions Blind', 'Fan sluice.mentions Love'])
      })

      test('are walked by diffusion, and are no relation that a question names', async () => {
        await put(said('Quito', 'High.'), said('Lima', 'South of Quito.'))
        const { hits } = await index.diffuse('main', { seeds: [{ entity_id: idOf('Lima'), weight: 1 }], limit: 5 })
        expect(hits.map(({ entity_id }) => entity_id)).toEqual([idOf('Lima'), idOf('Quito')])
        const text = 'Who mentions it, what is the mention?'
        expect((await index.follow('main', { seeds: [idOf('Quito')], text, limit: 5 })).hits).toEqual([])
        expect(await found(undefined, { stated: { predicate: 'sluice.mentions' } })).toEqual([])
      })

      test('in whatever order things are put and deleted, they are those of what is there', async () => {
        const words = fc.array(fc.constantFrom('North', 'north', 'Sea', 'Sea', 'ice'), { minLength: 1, maxLength: 5 })
        const thing = fc.record({ name: fc.constantFrom(...NAMES), label: words, snippet: words })
        const step = fc.oneof(
          { weight: 3, arbitrary: fc.array(thing, { minLength: 1, maxLength: 3 }) },
          { weight: 1, arbitrary: fc.constantFrom(...NAMES) },
        )
        let tenants = 0
        await fc.assert(
          fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), fc.nat(), async (steps, mask) => {
            tenants += 1
            const tenant = `steps${tenants}`
            await playThings(opened, tenant, steps, mask)
            await expectSameMentions(opened, tenant)
          }),
          { numRuns: atMost(opened.runs, 5) },
        )
      })
    })

    test('follows a relation by the words that were put for it, which are nothing that is found', async () => {
      await put(
        entity('norway', { triples: [stated('norway', 'geo.country.currency', idOf('krone'))] }),
        entity('krone', { label: 'Krone' }),
        entity('word', {
          label: 'Currency',
          aliases: ['pay with', 'money'],
          triples: [stated('word', 'sluice.word_for', 'geo.country.currency')],
        }),
      )
      const led = async (text: string) => {
        const { hits } = await index.follow('main', { seeds: [idOf('norway')], text, limit: 5 })
        return hits.map(({ entity_id }) => entity_id)
      }
      expect(await led('What money does Norway have?')).toEqual([idOf('krone')])
      expect(await led('What do they pay with in Norway?')).toEqual([idOf('krone')])
      expect(await led('Who rules Norway?')).toEqual([])
      expect(await found('money')).toEqual([])
      expect((await index.lookup('main', 'alias', 'money')).entity_ids).toEqual([])
      expect((await index.spelling('main', 'mony, money')).misspelt).toEqual([{ written: 'mony', meant: ['money'] }])
      await opened.graph.delete('main', [idOf('word')])
      await opened.settle('main')
      expect(await led('What money does Norway have?')).toEqual([])
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

/** Does the steps; the place catches up after every other, and is asked to walk: what it keeps for that is of then. */
async function play(
  { graph, index, settle }: OpenedSearchIndex,
  tenant: string,
  steps: readonly GraphStep[],
): Promise<void> {
  const seeds = NAMES.map((name) => ({ entity_id: idOf(name), weight: 1 }))
  for (const [at, step] of steps.entries()) {
    if (step.kind === 'put') await graph.put(tenant, step.entities)
    else await graph.delete(tenant, step.ids)
    if (at % 2 !== 0) continue
    await settle(tenant)
    await index.diffuse(tenant, { seeds, limit: 1 })
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

interface Thing {
  readonly name: string
  readonly label: readonly string[]
  readonly snippet: readonly string[]
}

/** Puts things and deletes names; the place catches up after the steps of the mask. */
async function playThings(
  { graph, settle }: OpenedSearchIndex,
  tenant: string,
  steps: readonly (readonly Thing[] | string)[],
  mask: number,
): Promise<void> {
  const entityOf = ({ name, label, snippet }: Thing) =>
    normal({ entity_id: idOf(name), label: label.join(' '), snippet: snippet.join(' ') })
  for (const [at, one] of steps.entries()) {
    if (typeof one === 'string') await graph.delete(tenant, [idOf(one)])
    else await graph.put(tenant, one.map(entityOf))
    if ((mask >> at) % 2 === 0) await settle(tenant)
  }
  await settle(tenant)
}

/** What was put and deleted one after the other mentions what the same mentions when it is put at once. */
async function expectSameMentions({ graph, index, settle }: OpenedSearchIndex, tenant: string): Promise<void> {
  const atOnce = `${tenant}-at-once`
  const entity_ids = NAMES.map(idOf)
  await graph.put(atOnce, await graph.entities(tenant, entity_ids))
  await settle(atOnce)
  for (const direction of ['in', 'out'] as const) {
    const asked = { entity_ids, direction, limit: 100 }
    expect((await index.links(tenant, asked)).links).toEqual((await index.links(atOnce, asked)).links)
  }
}
