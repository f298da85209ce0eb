import type { Entity } from '../../shared/graph/entity.ts'
import { type AtlasType, atlasId } from './atlas-id.ts'
import { grouped, listed } from './phrases.ts'
import { COUNTRIES_SOURCE, type SourceCountry } from './sources.ts'
import { statements } from './statements.ts'

/** What countries have in common, as entities of their own, so that one country leads to another through them. */
export function groupEntities(countries: readonly SourceCountry[]): readonly (Entity & { readonly body?: string })[] {
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
        body: sentencesOf(name, type, of).join(' '),
        triples: statements(entity_id, COUNTRIES_SOURCE, {
          [`geo.${type}.region`]: region,
          [`geo.${type}.countries_and_territories`]: [of.length],
        }),
      }
    })
}

function sentencesOf(name: string, type: string, of: readonly SourceCountry[]): readonly string[] {
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
