import type { Entity } from '../../shared/graph/entity.ts'
import { atlasId } from './atlas-id.ts'
import type { Town } from './choose-towns.ts'
import { degrees } from './phrases.ts'
import { CITIES_SOURCE, COUNTRIES_SOURCE } from './sources.ts'
import { statements } from './statements.ts'

/** A place with what both packages say of it. */
export function cityEntity(town: Town): Entity {
  const { entity_id, name, country, place, division, isCapital } = town
  const source = isCapital ? COUNTRIES_SOURCE : CITIES_SOURCE
  return {
    entity_id,
    label: name,
    ...(place !== undefined && place.name !== name && { aliases: [place.name] }),
    type: 'city',
    snippet: sentencesOf(town).join(' '),
    ...(place && { geo: { lat: place.lat, lon: place.lon } }),
    triples: [
      ...statements(entity_id, source, { 'geo.city.country': [atlasId('country', country.cca3)] }),
      ...statements(entity_id, CITIES_SOURCE, { 'geo.city.province': division === undefined ? [] : [division] }),
    ],
  }
}

function sentencesOf({ name, country, place, division, isCapital }: Town): readonly string[] {
  const owner = country.name.common
  return [
    isCapital ? `${name} is a capital city: that of ${owner}.` : `${name} is a city in ${owner}.`,
    ...(division === undefined ? [] : [`It lies in the division ${division}.`]),
    ...(place === undefined ? [] : [`Its position is ${degrees(place.lat, place.lon)}.`]),
  ]
}
