import type { Entity } from '../../shared/graph/entity.ts'
import type { Triple } from '../../shared/graph/triple.ts'
import {
  type AtlasSources,
  type AtlasType,
  atlasId,
  CITIES_SOURCE,
  COUNTRIES_SOURCE,
  type SourceCountry,
} from './sources.ts'
import { chooseTowns, type Town } from './towns.ts'

/** A line of an import: an entity, and the text of its body where it has one. */
export type AtlasLine = Entity & { readonly body?: string }

/** The graph of the world's countries: each with its capital, borders, currencies, languages and regions. */
export function atlasEntities(sources: AtlasSources): readonly AtlasLine[] {
  const towns = chooseTowns(sources)
  const names = new Map(sources.countries.map(({ cca3, name }) => [cca3, name.common]))
  const capitals = new Map(
    towns
      .filter(({ isCapital }) => isCapital)
      .map(({ country, name, entity_id }) => [`${country.cca2} ${name}`, entity_id]),
  )
  return [
    ...sources.countries.map((country) => countryEntity(country, { names, capitals })),
    ...towns.map(cityEntity),
    ...groupEntities(sources.countries),
  ]
}

interface Neighbours {
  /** By cca3. */
  readonly names: ReadonlyMap<string, string>
  /** Ids of the capitals by `cca2 name`. */
  readonly capitals: ReadonlyMap<string, string>
}

/** A country with what world-countries says of it; sentences say the same in words and nothing more. */
function countryEntity(country: SourceCountry, known: Neighbours): Entity {
  const entity_id = atlasId('country', country.cca3)
  const { name, currencies, languages, region, subregion, area, borders } = country
  return {
    entity_id,
    label: name.common,
    aliases: aliasesOf(country),
    type: 'country',
    snippet: countrySentences(country, known).join(' '),
    geo: { lat: country.latlng[0], lon: country.latlng[1] },
    triples: statements(entity_id, COUNTRIES_SOURCE, {
      'geo.country.official_name': [name.official],
      'geo.country.code': [country.cca3],
      'geo.country.capital': country.capital.map((city) => known.capitals.get(`${country.cca2} ${city}`) ?? city),
      'geo.country.borders': borders.map((code) => atlasId('country', code)),
      'geo.country.currency': Object.keys(currencies).map((code) => atlasId('currency', code)),
      'geo.country.language': Object.keys(languages).map((code) => atlasId('language', code)),
      'geo.country.region': [atlasId('region', region)],
      'geo.country.subregion': subregion === '' ? [] : [atlasId('subregion', subregion)],
      'geo.country.area_km2': area > 0 ? [area] : [],
      'geo.country.landlocked': [country.landlocked],
      'geo.country.independent': country.independent === true ? [true] : country.independent === false ? [false] : [],
    }),
  }
}

/** Two letters are a word of many languages: the short code is left out. */
function aliasesOf({ name, altSpellings, cca3 }: SourceCountry): string[] {
  const names = [name.official, cca3, ...altSpellings, ...Object.values(name.native).map(({ common }) => common)]
  return [...new Set(names)].filter((one) => one.length > 2 && one !== name.common).slice(0, 50)
}

function countrySentences(country: SourceCountry, { names }: Neighbours): readonly string[] {
  const { name, capital, borders, area, landlocked, region, subregion } = country
  const currencies = Object.entries(country.currencies).map(([code, currency]) => `${currency.name} (${code})`)
  const languages = Object.values(country.languages)
  const what = country.independent === true ? 'an independent country' : 'a country or territory'
  const official = name.official === name.common ? '' : `, officially ${name.official},`
  const where = subregion === '' || subregion === region ? region : `${subregion}, ${region}`
  return [
    `${name.common}${official} is ${what} in ${where}.`,
    ...sentence('Its capital is', 'Its capitals are', capital),
    ...sentence(
      'It borders',
      'It borders',
      borders.map((code) => names.get(code) ?? code),
    ),
    ...sentence('Its currency is', 'Its currencies are', currencies),
    ...sentence('Its language is', 'Its languages are', languages),
    ...(area > 0 ? [`It covers ${grouped(area)} km².`] : []),
    landlocked ? 'It is landlocked.' : 'It has a coast.',
  ]
}

function sentence(one: string, several: string, names: readonly string[]): readonly string[] {
  // `D.C.` ends the sentence itself.
  return names.length === 0 ? [] : [`${names.length === 1 ? one : several} ${listed(names).replace(/\.$/, '')}.`]
}

/** A place with what both packages say of it. */
function cityEntity(town: Town): Entity {
  const { entity_id, name, country, place, division, isCapital } = town
  const source = isCapital ? COUNTRIES_SOURCE : CITIES_SOURCE
  return {
    entity_id,
    label: name,
    ...(place !== undefined && place.name !== name && { aliases: [place.name] }),
    type: 'city',
    snippet: citySentences(town).join(' '),
    ...(place && { geo: { lat: place.lat, lon: place.lon } }),
    triples: [
      ...statements(entity_id, source, { 'geo.city.country': [atlasId('country', country.cca3)] }),
      ...statements(entity_id, CITIES_SOURCE, { 'geo.city.province': division === undefined ? [] : [division] }),
    ],
  }
}

function citySentences({ name, country, place, division, isCapital }: Town): readonly string[] {
  const owner = country.name.common
  return [
    isCapital ? `${name} is a capital city: that of ${owner}.` : `${name} is a city in ${owner}.`,
    ...(division === undefined ? [] : [`It lies in the division ${division}.`]),
    ...(place === undefined ? [] : [`Its position is ${degrees(place.lat, place.lon)}.`]),
  ]
}

/** What countries have in common, as entities of their own, so that one country leads to another through them. */
function groupEntities(countries: readonly SourceCountry[]): readonly (Entity & { readonly body?: string })[] {
  return [
    ...named(countries, 'currency', ({ currencies }) =>
      Object.entries(currencies).map(([code, { name }]) => [code, name]),
    ),
    ...named(countries, 'language', ({ languages }) => Object.entries(languages)),
    ...places(countries, 'region'),
    ...places(countries, 'subregion'),
  ]
}

/** The name most countries give a code. */
function named(
  countries: readonly SourceCountry[],
  type: AtlasType,
  of: (country: SourceCountry) => readonly (readonly [string, string])[],
): readonly Entity[] {
  const users = Map.groupBy(
    countries.flatMap((country) => of(country).map(([code, name]) => ({ code, name, country: country.name.common }))),
    ({ code }) => code,
  )
  return [...users].map(([code, uses]) => {
    const name = uses[0]?.name ?? code
    const entity_id = atlasId(type, code)
    const used = type === 'currency' ? 'is the currency of' : 'is a language of'
    return {
      entity_id,
      label: name,
      aliases: [code],
      type,
      snippet: `${name} (${code}) ${used} ${listed(uses.map(({ country }) => country))}.`.slice(0, 2_000),
      triples: statements(entity_id, COUNTRIES_SOURCE, { [`geo.${type}.code`]: [code] }),
    }
  })
}

/** Regions and subregions have a body: what their countries come to together. */
function places(countries: readonly SourceCountry[], type: 'region' | 'subregion') {
  const members = Map.groupBy(countries, (country) => country[type])
  return [...members]
    .filter(([name]) => name !== '')
    .map(([name, of]) => {
      const entity_id = atlasId(type, name)
      const region = type === 'subregion' ? [atlasId('region', of[0]?.region ?? '')] : []
      return {
        entity_id,
        label: name,
        type,
        snippet: `${name} is a ${type} of the world with ${of.length} countries and territories.`,
        body: groupSentences(name, type, of).join(' '),
        triples: statements(entity_id, COUNTRIES_SOURCE, {
          [`geo.${type}.region`]: region,
          [`geo.${type}.countries_and_territories`]: [of.length],
        }),
      }
    })
}

function groupSentences(name: string, type: string, of: readonly SourceCountry[]): readonly string[] {
  const common = (some: readonly SourceCountry[]) => listed(some.map((country) => country.name.common))
  const landlocked = of.filter((country) => country.landlocked)
  const largest = of
    .filter(({ area }) => area > 0)
    .toSorted((a, b) => b.area - a.area)
    .slice(0, 5)
  return [
    `${name} is a ${type} of the world with ${of.length} countries and territories: ${common(of)}.`,
    `Largest by area: ${listed(largest.map((one) => `${one.name.common} (${grouped(one.area)} km²)`))}.`,
    landlocked.length === 0 ? 'None of them is landlocked.' : `Landlocked there: ${common(landlocked)}.`,
  ]
}

interface Said {
  readonly source: string
  readonly timestamp: string
}

/** What an entity states, a row a predicate: objects that are absent say nothing. */
function statements(
  subject: string,
  { source, timestamp }: Said,
  rows: Readonly<Record<string, readonly Triple['object'][]>>,
): Triple[] {
  return Object.entries(rows).flatMap(([predicate, objects]) =>
    objects.map((object) => ({
      subject,
      predicate,
      object,
      source,
      timestamp,
      confidence: 1,
      rule_opaque: false,
    })),
  )
}

/** `A`, `A and B`, `A, B and C`. */
function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
}

/** `323,802`. */
function grouped(number: number): string {
  return number.toLocaleString('en-US', { maximumFractionDigits: 2 })
}

/** `59.91° N, 10.75° E`. */
function degrees(lat: number, lon: number): string {
  const part = (value: number, plus: string, minus: string) =>
    `${Math.abs(value).toFixed(2)}° ${value < 0 ? minus : plus}`
  return `${part(lat, 'N', 'S')}, ${part(lon, 'E', 'W')}`
}
