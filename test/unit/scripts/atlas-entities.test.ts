import { describe, expect, test } from 'vitest'
import { type AtlasLine, atlasEntities } from '../../../scripts/atlas/atlas-entities.ts'
import { readSources, type SourceCity, type SourceCountry } from '../../../scripts/atlas/sources.ts'
import { entityEdges, readEntity } from '../../../shared/graph/entity.ts'

const id = (rest: string) => `open.data.geo.atlas.${rest}`
const byId = (lines: readonly AtlasLine[]) => new Map(lines.map((line) => [line.entity_id, line]))

const BORDURIA: SourceCountry = {
  name: { common: 'Borduria', official: 'State of Borduria', native: { brd: { common: 'Borduriya' } } },
  cca2: 'BD',
  cca3: 'BRD',
  independent: true,
  currencies: { BOC: { name: 'Bordurian crown' } },
  capital: ['Szohôd'],
  altSpellings: ['BD', 'State of Borduria'],
  region: 'Europe',
  subregion: 'Balkans',
  languages: { brd: 'Bordurian', syl: 'Syldavian' },
  latlng: [44, 20],
  landlocked: true,
  borders: ['SYL'],
  area: 12345.6,
}
const SYLDAVIA: SourceCountry = {
  ...BORDURIA,
  name: { common: 'Syldavia', official: 'Syldavia', native: {} },
  cca2: 'SY',
  cca3: 'SYL',
  independent: null,
  currencies: [],
  capital: ['Klow D.C.'],
  altSpellings: [],
  languages: {},
  borders: ['BRD'],
  landlocked: false,
  area: -1,
}
const town = (name: string, country: string, admin1: string, admin2 = ''): SourceCity => ({
  name,
  country,
  admin1,
  admin2,
  lat: 44.5,
  lon: -20.25,
})

const atlasOf = (cities: readonly SourceCity[]) =>
  byId(
    atlasEntities({
      countries: [BORDURIA, SYLDAVIA],
      cities,
      divisions: [
        { code: 'BD.1', name: 'Szohod' },
        { code: 'SY.2', name: 'Istow' },
      ],
    }),
  )

describe('atlasEntities()', () => {
  const atlas = atlasOf([
    town('Szohod', 'BD', '3'),
    town('Szohod', 'BD', '1'),
    town('Klow', 'SY', 'DC'),
    town('Istow', 'SY', '2'),
    town('Zympathia', 'SY', '2'),
  ])

  test('a country states what the package says, with edges to entities that are there', () => {
    const country = atlas.get(id('country.brd'))
    expect(country).toMatchObject({
      label: 'Borduria',
      type: 'country',
      aliases: ['State of Borduria', 'BRD', 'Borduriya'],
    })
    expect(entityEdges(country ?? { entity_id: '' }).map(({ predicate, object }) => `${predicate} ${object}`)).toEqual([
      `geo.country.borders ${id('country.syl')}`,
      `geo.country.capital ${id('city.bd-szohod')}`,
      `geo.country.currency ${id('currency.boc')}`,
      `geo.country.language ${id('language.brd')}`,
      `geo.country.language ${id('language.syl')}`,
      `geo.country.region ${id('region.europe')}`,
      `geo.country.subregion ${id('subregion.balkans')}`,
    ])
    const values = Object.fromEntries((country?.triples ?? []).map(({ predicate, object }) => [predicate, object]))
    expect(values).toMatchObject({ 'geo.country.area_km2': 12345.6, 'geo.country.landlocked': true })
  })

  test('sentences say the same, and nothing where nothing is known', () => {
    expect(atlas.get(id('country.brd'))?.snippet).toBe(
      'Borduria, officially State of Borduria, is an independent country in Balkans, Europe. Its capital is Szohôd. It borders Syldavia. Its currency is Bordurian crown (BOC). Its languages are Bordurian and Syldavian. It covers 12,345.6 km². It is landlocked.',
    )
    expect(atlas.get(id('country.syl'))?.snippet).toBe(
      'Syldavia is a country or territory in Balkans, Europe. Its capital is Klow D.C. It borders Borduria. It has a coast.',
    )
    const stated = atlas.get(id('country.syl'))?.triples?.map(({ predicate }) => predicate)
    expect(stated).not.toContain('geo.country.area_km2')
    expect(stated).not.toContain('geo.country.independent')
  })

  test('towns are the capitals and the namesakes of divisions; a capital has the place of its division', () => {
    expect([...atlas.keys()].filter((one) => one.includes('.city.'))).toEqual([
      id('city.bd-szohod'),
      id('city.sy-klow-dc'),
      id('city.sy-istow'),
    ])
    const capital = atlas.get(id('city.bd-szohod'))
    expect(capital).toMatchObject({ aliases: ['Szohod'], geo: { lat: 44.5, lon: -20.25 } })
    expect(capital?.snippet).toBe(
      'Szohôd is a capital city: that of Borduria. It lies in the division Szohod. Its position is 44.50° N, 20.25° W.',
    )
    expect(atlas.get(id('city.sy-klow-dc'))?.geo).toBeDefined()
  })

  test('a capital of which several places have the name has no position', () => {
    const unsure = atlasOf([town('Szohod', 'BD', '3'), town('Szohod', 'BD', '4')]).get(id('city.bd-szohod'))
    expect(unsure?.geo).toBeUndefined()
    expect(unsure?.snippet).toBe('Szohôd is a capital city: that of Borduria.')
  })

  test('regions have a body of what their countries come to', () => {
    expect(atlas.get(id('subregion.balkans'))?.body).toBe(
      'Balkans is a subregion of the world with 2 countries and territories: Borduria and Syldavia. Largest by area: Borduria (12,345.6 km²). Landlocked there: Borduria.',
    )
  })
})

describe('the packages as they are', () => {
  const lines = atlasEntities(readSources())
  const ids = byId(lines)

  test('every entity is one the graph takes, each id once, no edge leads nowhere', () => {
    expect(ids.size).toBe(lines.length)
    expect(
      lines.flatMap(({ body: _, ...entity }) => ('entity' in readEntity(entity) ? [] : [entity.entity_id])),
    ).toEqual([])
    expect(lines.flatMap(entityEdges).filter(({ object }) => !ids.has(object))).toEqual([])
  })

  test('well-known capitals lie where they lie', () => {
    const at = (rest: string) => ids.get(id(`city.${rest}`))?.geo
    expect(at('no-oslo')).toMatchObject({ lat: expect.closeTo(59.91, 1), lon: expect.closeTo(10.75, 1) })
    expect(at('us-washington-dc')).toMatchObject({ lat: expect.closeTo(38.9, 1), lon: expect.closeTo(-77.04, 1) })
    expect(at('vn-hanoi')).toMatchObject({ lat: expect.closeTo(21.02, 1) })
    const lost = lines.filter(({ type, geo, snippet = '' }) => type === 'city' && !geo && snippet.includes('capital'))
    expect(lost.map(({ label }) => label)).toEqual([
      'El Aaiún',
      'Diego Garcia',
      'South Tarawa',
      'Naypyidaw',
      'King Edward Point',
      'Fakaofo',
    ])
  })
})
