import type { Entity } from '../../shared/graph/entity.ts'
import { chooseTowns } from './choose-towns.ts'
import { cityEntity } from './city-entity.ts'
import { countryEntity } from './country-entity.ts'
import { groupEntities } from './group-entities.ts'
import type { AtlasSources } from './sources.ts'

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
