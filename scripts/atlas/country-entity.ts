import type { Entity } from '../../shared/graph/entity.ts'
import { atlasId } from './atlas-id.ts'
import { grouped, listed } from './phrases.ts'
import { COUNTRIES_SOURCE, type SourceCountry } from './sources.ts'
import { statements } from './statements.ts'

interface Neighbours {
  /** By cca3. */
  readonly names: ReadonlyMap<string, string>
  /** Ids of the capitals by `cca2 name`. */
  readonly capitals: ReadonlyMap<string, string>
}

/** A country with what world-countries says of it; sentences say the same in words and nothing more. */
export function countryEntity(country: SourceCountry, known: Neighbours): Entity {
  const entity_id = atlasId('country', country.cca3)
  const { name, currencies, languages, region, subregion, area, borders } = country
  return {
    entity_id,
    label: name.common,
    aliases: aliasesOf(country),
    type: 'country',
    snippet: sentencesOf(country, known).join(' '),
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

function sentencesOf(country: SourceCountry, { names }: Neighbours): readonly string[] {
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
